"""Models as ONNX files, which onnxruntime runs: ids in, hidden states and logits out."""

from firth.interop.onnx.exporting import export_model

__all__ = ["export_model"]
