"""What the report of a corpus says."""
