"""PredictionExporter: what BulkInferrer predicted, as lines of JSON."""
