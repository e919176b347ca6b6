"""What stands on a stack of blocks."""
