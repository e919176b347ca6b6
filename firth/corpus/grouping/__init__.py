"""Documents, and rows of numbers about them, brought together in Beam."""
