"""The sources of a corpus, and its cleaning."""
