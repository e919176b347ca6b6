"""What ML Metadata knows of a run: where it is kept, what is read from it, and what is mended in it."""
