"""ObjectiveValidator: checks an objective's rates against the recipe before the training."""
