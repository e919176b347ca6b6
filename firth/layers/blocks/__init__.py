"""Transformer blocks, and the stacks made of them."""
