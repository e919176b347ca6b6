"""What one request for a written text asks for."""
