"""Base layers, and the functions that all other layers are made of."""
