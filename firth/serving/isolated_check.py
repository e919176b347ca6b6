"""Loads a SavedModel as TF Serving does and runs requests. Run by path, in a process of its own.

    python -I isolated_check.py MODEL_DIRECTORY REQUESTS_FILE RESULTS_FILE

It loads the libraries of TensorFlow and of tensorflow-text, and nothing of firth, so that a model which needs
more cannot pass. Both files hold one JSON object a line; `firth.serving.validation` writes the one and reads
the other. Results are written one by one, so that a crash shows which request caused it.
"""

import base64
import importlib.util
import json
import os
import pathlib
import sys
import time
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

import numpy as np


def _read_session() -> ModuleType:
    """Returns `isolated_session`, which is read from its file: a package would be firth's."""
    path = pathlib.Path(__file__).with_name("isolated_session.py")
    spec = importlib.util.spec_from_file_location("isolated_session", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


isolated_session = _read_session()


def graph_ops(directory: str) -> list[str]:
    """Returns the names of all ops in a SavedModel's graph and function library, sorted."""
    from tensorflow.core.protobuf import saved_model_pb2

    with open(os.path.join(directory, "saved_model.pb"), "rb") as file:
        graphs = [meta.graph_def for meta in saved_model_pb2.SavedModel.FromString(file.read()).meta_graphs]
    nodes = [node for graph in graphs for node in graph.node]
    nodes += [node for graph in graphs for function in graph.library.function for node in function.node_def]
    functions = {function.signature.name for graph in graphs for function in graph.library.function}
    return sorted({node.op for node in nodes} - functions)


def libraries(ops: Iterable[str]) -> dict[str, str | None]:
    """Returns which library registers each op, and loads those of tensorflow-text on the way."""
    core = isolated_session.registered_ops()
    isolated_session.load_text_ops()
    both = isolated_session.registered_ops()
    return {op: "tensorflow" if op in core else "tensorflow_text" if op in both else None for op in ops}


def describe(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Returns dtype and shape of a signature's inputs or outputs; None in a shape is any size."""
    return {
        name: {
            "dtype": isolated_session.DTYPES.get(info.dtype, str(info.dtype)),
            "shape": [None if axis.size < 0 else axis.size for axis in info.tensor_shape.dim],
        }
        for name, info in sorted(tensors.items())
    }


def problem_of(outputs: Mapping[str, np.ndarray[Any, Any]], batch: int | None) -> str | None:
    """Returns the problem of outputs by themselves; None if there is none."""
    for name, values in outputs.items():
        if values.shape[:1] != (batch,):
            return f"{name} has shape {values.shape} for a batch of {batch}"
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            return f"{name} is not finite"
    return None


def difference(
    whole: Mapping[str, np.ndarray[Any, Any]],
    single: Mapping[str, np.ndarray[Any, Any]],
    row: int,
    names: Iterable[str],
    tolerance: float,
) -> str | None:
    """Returns how a row of a batch differs from the same request asked alone; None if it does not.

    Outputs are padded to the longest of their batch, so only the part that both have is compared; the rest of
    the batch's row must be padding.
    """
    for name in names:
        expected, found = single[name][0], whole[name][row]
        part = tuple(slice(size) for size in expected.shape)
        if found.dtype.kind == "f":
            same = np.allclose(found[part], expected, rtol=tolerance, atol=tolerance)
        else:
            same = np.array_equal(found[part], expected)
        if not same:
            return f"{name} of row {row} differs from the same row in a batch of one"
        padding = b"" if found.dtype.kind == "O" else 0
        if np.count_nonzero(found != padding) != np.count_nonzero(found[part] != padding):
            return f"{name} of row {row} is not padded after its end"
    return None


def check(model: Any, request: dict[str, Any]) -> str | None:
    """Runs one request, and its rows one by one if required; returns the problem, or None."""
    name, inputs = request["signature"], request["inputs"]
    batch = len(next(iter(inputs.values())))
    outputs = model.run(name, inputs)
    problem = problem_of(outputs, batch)
    for row in range(batch if request["compare"] else 0):
        alone = model.run(name, {key: values[row : row + 1] for key, values in inputs.items()})
        problem = problem or difference(outputs, alone, row, request["compare"], request["tolerance"])
    return problem


def decoded(value: Any) -> Any:
    """Returns a value of a request with its texts as bytes."""
    if isinstance(value, list):
        return [decoded(each) for each in value]
    return base64.b64decode(value) if isinstance(value, str) else value


def _problem(error: Exception) -> str:
    # Those of TensorFlow have its own names.
    name = "" if isinstance(error, isolated_session.SessionError) else f"{type(error).__name__}: "
    return f"{name}{error}"[:500]


def answer(model: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Returns the result of one request: seconds, the problem if any, and whether it was refused."""
    request["inputs"] = {key: decoded(values) for key, values in request["inputs"].items()}
    start = time.perf_counter()
    try:
        problem, refused = check(model, request), False
    except Exception as error:
        problem, refused = (
            _problem(error),
            getattr(error, "is_refusal", False),
        )
    seconds = time.perf_counter() - start
    return {"refused": refused, "problem": problem, "seconds": seconds}


def main(directory: str, requests_path: str, results_path: str) -> None:
    """Writes a line on the model, then one on each request."""
    isolated_session.skip_package_imports()
    with (
        open(requests_path, encoding="utf-8") as requests,
        open(results_path, "w", encoding="utf-8") as results,
    ):
        ops = libraries(graph_ops(directory))
        start = time.perf_counter()
        model = isolated_session.Session(directory)
        about = {
            "load_seconds": time.perf_counter() - start,
            "ops": ops,
            "signatures": {
                name: {"inputs": describe(signature.inputs), "outputs": describe(signature.outputs)}
                for name, signature in sorted(model.signatures.items())
            },
            "foreign_modules": sorted(name for name in sys.modules if name.split(".")[0] == "firth"),
            "tensorflow": isolated_session.version(),
        }
        print(json.dumps(about), file=results, flush=True)
        for line in requests:
            print(json.dumps(answer(model, json.loads(line))), file=results, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
