"""Models as KerasHub's presets."""

from firth.interop.keras_hub.exporting import export_model
from firth.interop.keras_hub.importing import import_model

__all__ = ["export_model", "import_model"]
