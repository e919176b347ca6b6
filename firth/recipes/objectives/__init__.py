"""The objectives of pre-training."""
