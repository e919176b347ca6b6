"""Heads of the objectives: from hidden states to predictions and losses, one file each."""
