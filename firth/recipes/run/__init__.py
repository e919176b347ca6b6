"""A run: what it is made of, and whether the parts fit together."""
