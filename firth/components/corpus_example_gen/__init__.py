"""CorpusExampleGen: from a recipe's sources to documents."""
