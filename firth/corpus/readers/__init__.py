"""The kinds of source, and how each becomes documents."""
