"""Parameters of one request for a written text."""
