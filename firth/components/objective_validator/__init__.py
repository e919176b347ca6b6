"""ObjectiveValidator: whether the objective does what the recipe says, before anything is trained on it."""

from firth.components.objective_validator.component import ObjectiveValidator

__all__ = ["ObjectiveValidator"]
