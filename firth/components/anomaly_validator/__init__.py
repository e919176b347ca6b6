"""AnomalyValidator: stops where records differ from their schema."""
