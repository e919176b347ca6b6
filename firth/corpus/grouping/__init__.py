"""Grouping of documents, and of tables of numbers about them, by key on Beam."""
