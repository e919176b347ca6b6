"""ServingValidator: whether a model can be served, tried in a fresh process."""

from firth.components.serving_validator.component import ServingValidator

__all__ = ["ServingValidator"]
