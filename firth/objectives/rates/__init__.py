"""Measured rates of objectives, compared with those of the recipe."""
