"""RequestExampleGen: from a file of texts without labels to examples."""
