"""Reporter: one page on the whole run."""
