"""The cleaning step that learns what good text is."""
