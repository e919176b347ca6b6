"""How the weights of an export are stored, and what a model loses by it."""
