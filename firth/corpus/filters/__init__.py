"""Cleaning steps that look at one document at a time."""
