"""Records that are held out, and data sets that are mixed."""
