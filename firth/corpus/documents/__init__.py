"""The document, the steps that keep or drop it, and the counts of both."""
