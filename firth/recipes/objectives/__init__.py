"""What a model learns to predict."""
