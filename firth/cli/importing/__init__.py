"""What `firth import` draws."""
