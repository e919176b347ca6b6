"""The progress of `firth import` on the terminal."""
