"""Curator: cleaning, and the split into train and eval."""
