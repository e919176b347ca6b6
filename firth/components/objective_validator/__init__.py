"""ObjectiveValidator: checks an objective's rates against the recipe before the training."""

from firth.components.objective_validator.component import ObjectiveValidator

__all__ = ["ObjectiveValidator"]
