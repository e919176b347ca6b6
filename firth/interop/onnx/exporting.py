"""A bundle becomes a folder of ONNX files."""

import importlib.metadata
import os
from typing import Any

from firth import storage
from firth.interop.bundles import about_untrained, copy_sources, open_bundle, require_trained, untrained_heads
from firth.interop.errors import InteropError
from firth.interop.extras import import_extra
from firth.interop.onnx.converting import convert
from firth.interop.onnx.graph import Graph
from firth.interop.onnx.graphs import graphs_of
from firth.interop.written import Written
from firth.models.backbone_with_heads import BackboneWithHeads

DESCRIPTION_FILE = "firth.json"
# Of a file, which is one message of protobuf.
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
    """Writes a graph, and returns what is said about it."""
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
