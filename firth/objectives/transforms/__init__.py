"""Pure functions of tokens and a seed, which objectives are built from."""
