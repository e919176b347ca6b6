"""The weights of an export: their types, and the variables that a graph reads them from."""
