"""What a release says: of all its rows and of some, of one row, of pairs, of years."""
