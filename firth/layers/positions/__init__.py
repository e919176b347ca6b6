"""What attention and embeddings know of positions."""
