"""CorpusValidator: checks that the cleaned corpus keeps the recipe's limits."""
