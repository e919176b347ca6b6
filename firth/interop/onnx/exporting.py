"""A bundle becomes a folder of ONNX files."""

import contextlib
import importlib.metadata
import os
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import keras
import numpy as np

from firth import storage
from firth.interop.bundles import about_untrained, copy_sources, open_bundle, require_trained, untrained_heads
from firth.interop.errors import InteropError, import_extra
from firth.interop.formats import Written
from firth.interop.onnx.graphs import Graph, Tensors, graphs_of
from firth.models.backbone_with_heads import BackboneWithHeads

DESCRIPTION_FILE = "firth.json"
# Most bytes of a file, which is one message of protobuf.
MOST_BYTES = 2 * 10**9
_PACKAGES = ("firth", "tensorflow", "keras", "onnx", "tf2onnx")


def export_model(
    bundle: str | os.PathLike[str], folder: str | os.PathLike[str], heads: str | None = None
) -> Written:
    """Writes a bundle's model as ONNX files, which read ids.

    `encoder.onnx` reads whole rows, `decoder.onnx` those of a decoder, and `decoder_step.onnx` some tokens
    after those whose keys and values it is given; `firth.json` says what goes into each file and what comes
    out. The bundle's recipe and tokenizer are copied. The folder appears whole or not at all.

    Args:
        bundle: Path of the folder that `firth.models.save_model` wrote.
        folder: Place of the new folder, where nothing is.
        heads: `untrained` to write what heads give that nobody has trained; None to leave it out.

    Returns:
        The files that were written, and which heads are left out.

    Raises:
        InteropError: if it is not a bundle, the extra is not installed, the model is larger than a file can
            be, or it has parts that ONNX cannot express.
        FileExistsError: if there is something in the folder's place.
    """
    import_extra("onnx", "tf2onnx", "onnx")
    with storage.whole_folder(folder) as unfinished:
        model, recipe = open_bundle(bundle)
        _check_size(model)
        untrained = untrained_heads(bundle, heads)
        if recipe.model.has_decoder or not recipe.model.has_encoder:
            require_trained(untrained)
        graphs = graphs_of(model, recipe.goal, untrained)
        files = {f"{graph.name}.onnx": _write(graph, unfinished) for graph in graphs}
        copy_sources(bundle, unfinished)
        storage.write_json(
            os.path.join(unfinished, DESCRIPTION_FILE),
            {
                "name": recipe.name,
                "files": files,
                "versions": {package: importlib.metadata.version(package) for package in _PACKAGES},
            },
        )
        return Written(tuple(storage.files_below(unfinished)), about_untrained(untrained))


def _check_size(model: BackboneWithHeads) -> None:
    size = 4 * model.count_params()
    if size > MOST_BYTES:
        raise InteropError(
            f"the weights take {size / 1e9:.1f} GB in float32; a file of ONNX holds {MOST_BYTES / 1e9:g} GB"
        )


def _write(graph: Graph, folder: str) -> dict[str, Any]:
    """Writes a graph, and returns its description."""
    made = convert(graph)
    with storage.whole_file(os.path.join(folder, f"{graph.name}.onnx")) as file:
        file.write(made.SerializeToString())
    return {
        "inputs": {
            name: {"dtype": port.dtype, "axes": list(port.axes), "meaning": port.meaning}
            for name, port in graph.inputs.items()
        },
        "outputs": [output.name for output in made.graph.output],
    }


# Version of ONNX's operators; onnxruntime reads it since 1.13.
OPSET = 17
# Axis of a cache's tokens.
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
        return builder.make_slice({"data": data, "starts": start, "ends": end, "axes": [axis]})

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


@contextlib.contextmanager
def plain_scans() -> Iterator[None]:
    """Makes Keras scan by a loop that writes each step's values once, at the number of the step.

    Keras's own also keeps what it carries in lists that it writes again and again: ONNX has no such lists.
    """
    with mock.patch.object(keras.ops, "scan", _scan):
        yield


def _scan(step: Callable[..., Any], start: Any, numbers: Any, reverse: bool = False) -> tuple[Any, Any]:
    """Computes `keras.ops.scan` of a step whose outputs are the values that it carries."""
    import tensorflow as tf

    count = tf.shape(numbers)[0]
    carried = tuple(tf.convert_to_tensor(each) for each in start)
    written = tuple(
        tf.TensorArray(each.dtype, count, element_shape=each.shape, infer_shape=True) for each in carried
    )

    def body(place: Any, carried: Any, written: Any) -> tuple[Any, Any, Any]:
        made, _ = step(carried, numbers[count - 1 - place if reverse else place])
        return place + 1, tuple(made), tuple(each.write(place, value) for each, value in zip(written, made))

    _, carried, written = tf.while_loop(
        lambda place, *_: place < count, body, (tf.constant(0), carried, written), maximum_iterations=None
    )
    values = (each.stack() for each in written)
    return carried, tuple(tf.reverse(each, [0]) if reverse else each for each in values)
