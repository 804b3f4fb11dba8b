"""What each dataset may spend and has spent: paid before any draw, refused, or shown again."""
