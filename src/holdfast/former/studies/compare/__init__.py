"""Methods side by side on one table."""
