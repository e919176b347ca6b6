"""Files, compressed or not, read and written on any of Beam's file systems."""
