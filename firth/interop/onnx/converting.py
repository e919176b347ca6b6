"""Functions of TensorFlow to ONNX, by tf2onnx."""

from typing import Any

import numpy as np

from firth.interop.errors import InteropError
from firth.interop.extras import import_extra
from firth.interop.onnx.graph import Graph, Tensors
from firth.interop.onnx.loops import plain_scans

# Of ONNX's operators; onnxruntime reads it since 1.13.
OPSET = 17
# Of a cache, along which it is written.
_TOKENS = 3


def convert(graph: Graph) -> Any:
    """Returns the ONNX model of a graph, an `onnx.ModelProto`."""
    import tensorflow as tf

    tf2onnx, onnx = import_extra("onnx", "tf2onnx", "onnx")
    signature = [
        tf.TensorSpec([axis if isinstance(axis, int) else None for axis in port.axes], port.dtype, name=name)
        for name, port in graph.inputs.items()
    ]

    @tf.function(input_signature=signature, autograph=False)
    def function(*tensors: Any) -> Tensors:
        return graph.function(dict(zip(graph.inputs, tensors, strict=True)))

    handlers: dict[str, Any] = {"XlaDynamicUpdateSlice": (_write_slice, [])}
    with plain_scans():
        made, _ = tf2onnx.convert.from_function(function, signature, opset=OPSET, custom_op_handlers=handlers)
    unknown = {node.op_type for node in made.graph.node if not onnx.defs.has(node.op_type, node.domain)}
    if unknown:
        raise InteropError(f"{graph.name}: ONNX has nothing for TensorFlow's {', '.join(sorted(unknown))}")
    _name_axes(made, graph)
    return made


def _name_axes(made: Any, graph: Graph) -> None:
    """Gives axes of inputs their names, where tf2onnx numbers the unknown ones."""
    for given in made.graph.input:
        for axis, of_ours in zip(given.type.tensor_type.shape.dim, graph.inputs[given.name].axes):
            if isinstance(of_ours, str):
                axis.dim_param = of_ours


def _write_slice(context: Any, node: Any, name: str, arguments: Any) -> None:
    """Replaces TensorFlow's write into a part of a tensor, which caches are written by along their tokens."""
    from tf2onnx.graph_builder import GraphBuilder

    builder = GraphBuilder(context)
    whole, part, starts = node.input
    shape, dtype = context.get_shape(node.output[0]), context.get_dtype(node.output[0])

    def slice_of(data: str, start: Any, end: Any, axis: int) -> str:
        ends: str = builder.make_slice({"data": data, "starts": start, "ends": end, "axes": [axis]})
        return ends

    starts = context.make_node("Cast", [starts], attr={"to": 7}).output[0]
    begin = slice_of(starts, [_TOKENS], [_TOKENS + 1], 0)
    count = slice_of(context.make_node("Shape", [part]).output[0], [_TOKENS], [_TOKENS + 1], 0)
    end = context.make_node("Add", [begin, count]).output[0]
    zero = context.make_const(f"{name}_zero", np.zeros(1, "int64")).output[0]
    last = context.make_const(f"{name}_last", np.array([np.iinfo("int64").max])).output[0]
    pieces = [slice_of(whole, zero, begin, _TOKENS), part, slice_of(whole, end, last, _TOKENS)]
    context.remove_node(node.name)
    known = {"shapes": [shape], "dtypes": [dtype]}
    context.make_node("Concat", pieces, attr={"axis": _TOKENS}, name=name, outputs=node.output, **known)
