"""Backbones: from features to hidden states, one file each."""
