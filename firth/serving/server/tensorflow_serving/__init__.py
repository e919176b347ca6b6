"""TF Serving's REST and gRPC, for any SavedModel."""
