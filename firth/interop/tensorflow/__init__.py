"""Models as the TensorFlow checkpoints of their papers."""

from firth.interop.tensorflow.exporting import export_model
from firth.interop.tensorflow.importing import import_model

__all__ = ["export_model", "import_model"]
