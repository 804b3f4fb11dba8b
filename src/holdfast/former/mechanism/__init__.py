"""A count mechanism in exact integers: its weights, its certificate, its draws."""
