"""Personal data and keys, found and replaced."""
