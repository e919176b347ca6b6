"""What a document is, what a step may do to it, and how it is counted."""
