"""Personal data in text: one file for each family of types."""
