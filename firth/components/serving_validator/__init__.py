"""ServingValidator: checks in a fresh process that a model can be served."""
