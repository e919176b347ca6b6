"""CorpusReporter: one page on the corpus."""
