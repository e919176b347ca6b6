"""Components from the sources of a corpus to rows: they read, clean, check, tokenize and pack documents."""
