"""AnomalyValidator: stops where records differ from their schema."""

from firth.components.anomaly_validator.component import AnomalyValidator

__all__ = ["AnomalyValidator"]
