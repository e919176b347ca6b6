"""Cleaning steps that decide about each document on its own."""
