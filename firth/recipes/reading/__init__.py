"""Turns files and options into a recipe, with messages for what is wrong."""
