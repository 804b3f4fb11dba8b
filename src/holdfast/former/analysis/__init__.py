"""What an analyst may ask of a release."""
