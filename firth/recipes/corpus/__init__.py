"""Where a corpus comes from, and what happens to it."""
