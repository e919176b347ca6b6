"""The base of all recipe types, and the reading of YAML."""
