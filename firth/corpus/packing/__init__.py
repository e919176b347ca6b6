"""From cleaned documents to packed rows of tokens."""
