"""Schemas, regular expressions and grammars that hold a text that is written."""
