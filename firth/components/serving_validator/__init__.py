"""ServingValidator: checks in a fresh process that a model can be served."""

from firth.components.serving_validator.component import ServingValidator

__all__ = ["ServingValidator"]
