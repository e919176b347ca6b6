"""Tiny models of transformers, which `make_transformers_golden.py` makes golden files of."""
