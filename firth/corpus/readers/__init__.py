"""The kinds of source, and how the files of each are read as documents."""
