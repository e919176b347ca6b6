"""Words, n-grams, languages and web addresses of texts."""
