"""Cleaning steps that remove duplicates."""
