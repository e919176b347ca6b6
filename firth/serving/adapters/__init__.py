"""Several adapters of one base in one SavedModel, which an input chooses from."""
