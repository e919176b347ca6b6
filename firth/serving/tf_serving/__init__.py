"""What TF Serving finds next to an exported model."""
