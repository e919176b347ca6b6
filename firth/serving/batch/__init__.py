"""Answers to the records of whole files."""
