"""CorpusExporter: the cleaned corpus in formats that others read."""
