"""Signatures over slots, whose caches an exported model keeps between requests, and what drives them."""
