"""Cleaning steps that take duplicates out."""
