"""Loads a SavedModel as TF Serving does and runs requests. Run by path, in a process of its own.

    python -I isolated_check.py MODEL_DIRECTORY REQUESTS_FILE RESULTS_FILE

It imports TensorFlow and tensorflow-text and nothing of firth, so that a model which needs more cannot pass.
Both files hold one JSON object a line; `firth.serving.validation` writes the one and reads the other. Results
are written one by one, so that a crash shows which request caused it.
"""

import base64
import json
import os
import sys
import time
import types
from collections.abc import Iterable, Mapping
from typing import Any

# As `firth predict` does: TensorFlow works without these, and loads them if they are there. TF Serving has no
# Keras either, and a model needs none.
if __name__ == "__main__":
    for optional in ("IPython", "googleapiclient", "keras", "matplotlib", "pandas", "sklearn"):
        sys.modules[optional] = None  # type: ignore[assignment]
    # Layers of Keras, next to the ops of tensorflow-text.
    sys.modules["tensorflow_text.python.keras"] = types.ModuleType("tensorflow_text.python.keras")

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import rewriter_config_pb2, saved_model_pb2


def graph_ops(directory: str) -> list[str]:
    """Returns the names of all ops in a SavedModel's graph and function library, sorted."""
    with tf.io.gfile.GFile(os.path.join(directory, "saved_model.pb"), "rb") as file:
        graphs = [meta.graph_def for meta in saved_model_pb2.SavedModel.FromString(file.read()).meta_graphs]
    nodes = [node for graph in graphs for node in graph.node]
    nodes += [node for graph in graphs for function in graph.library.function for node in function.node_def]
    functions = {function.signature.name for graph in graphs for function in graph.library.function}
    return sorted({node.op for node in nodes} - functions)


def is_registered(op: str) -> bool:
    """Returns whether TensorFlow, or a library that it has loaded, has an op."""
    # `tf.raw_ops` has only TensorFlow's own.
    graph = tf.compat.v1.GraphDef()
    graph.node.add(name="node", op=op)
    try:
        with tf.Graph().as_default():
            tf.graph_util.import_graph_def(graph)
    except tf.errors.NotFoundError:
        return False
    except ValueError:
        # It is there, and lacks inputs or attributes.
        return True
    return True


def libraries(ops: Iterable[str]) -> dict[str, str | None]:
    """Returns which library registers each op, and imports tensorflow-text on the way."""
    core = set(filter(is_registered, ops))
    import tensorflow_text  # noqa: F401

    text = set(filter(is_registered, ops)) - core
    return {op: "tensorflow" if op in core else "tensorflow_text" if op in text else None for op in ops}


def describe(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Returns dtype and shape of a signature's inputs or outputs; None in a shape is any size."""
    return {
        name: {
            "dtype": tf.dtypes.as_dtype(info.dtype).name,
            "shape": [None if axis.size < 0 else axis.size for axis in info.tensor_shape.dim],
        }
        for name, info in sorted(tensors.items())
    }


class Loaded:
    """A model in a V1 session, as TF Serving loads it.

    With `lanes`, as many runs may each have a thread of their own that starts its operations, by
    `RunOptions(inter_op_thread_pool=1)` to `lanes`. The operations of a stack of blocks wait for each other,
    and threads that share them sleep and wake up between.
    """

    def __init__(self, directory: str, lanes: int = 0) -> None:
        # Its optimizer goes over each of the graphs that are asked for, here once instead of twice.
        config = tf.compat.v1.ConfigProto()
        rewriting = config.graph_options.rewrite_options
        rewriting.meta_optimizer_iterations = rewriter_config_pb2.RewriterConfig.ONE
        if lanes:
            # The first one is that of all other runs; versions share it.
            config.session_inter_op_thread_pool.add().global_name = "others"
            for _ in range(lanes):
                config.session_inter_op_thread_pool.add().num_threads = 1
        self.session = tf.compat.v1.Session(graph=tf.Graph(), config=config)
        self.meta_graph = meta_graph = tf.compat.v1.saved_model.loader.load(
            self.session, ["serve"], directory
        )
        # The loader's own signatures, such as that of the initializer, have no method.
        predict = tf.compat.v1.saved_model.signature_constants.PREDICT_METHOD_NAME
        self.signatures = {
            name: signature
            for name, signature in meta_graph.signature_def.items()
            if signature.method_name == predict
        }

    def run(self, name: str, inputs: Mapping[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
        """Returns the outputs of a signature as arrays."""
        if name not in self.signatures:
            raise LookupError(f"the model has no signature {name}")
        signature = self.signatures[name]
        infos = {key: signature.inputs[key] for key in inputs}
        feed = {infos[key].name: _array(values, infos[key]) for key, values in inputs.items()}
        return self.session.run({key: info.name for key, info in signature.outputs.items()}, feed)


def _array(values: Any, info: Any) -> np.ndarray[Any, Any]:
    """Returns values as an array of an input's dtype and rank, which a batch of nothing does not show."""
    made = np.array(values, tf.dtypes.as_dtype(info.dtype).as_numpy_dtype)
    return made if made.size else made.reshape(made.shape[:1] + (0,) * (len(info.tensor_shape.dim) - 1))


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


def check(model: "Loaded", request: dict[str, Any]) -> str | None:
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


def answer(model: "Loaded", request: dict[str, Any]) -> dict[str, Any]:
    """Returns the result of one request: seconds, the problem if any, and whether it was refused."""
    request["inputs"] = {key: decoded(values) for key, values in request["inputs"].items()}
    start = time.perf_counter()
    try:
        problem, refused = check(model, request), False
    except Exception as error:
        problem, refused = (
            f"{type(error).__name__}: {error}"[:500],
            isinstance(error, tf.errors.InvalidArgumentError),
        )
    seconds = time.perf_counter() - start
    return {"refused": refused, "problem": problem, "seconds": seconds}


def main(directory: str, requests_path: str, results_path: str) -> None:
    """Writes a line on the model, then one on each request."""
    with (
        open(requests_path, encoding="utf-8") as requests,
        open(results_path, "w", encoding="utf-8") as results,
    ):
        ops = libraries(graph_ops(directory))
        start = time.perf_counter()
        model = Loaded(directory)
        about = {
            "load_seconds": time.perf_counter() - start,
            "ops": ops,
            "signatures": {
                name: {"inputs": describe(signature.inputs), "outputs": describe(signature.outputs)}
                for name, signature in sorted(model.signatures.items())
            },
            "foreign_modules": sorted(name for name in sys.modules if name.split(".")[0] == "firth"),
            "tensorflow": tf.__version__,
        }
        print(json.dumps(about), file=results, flush=True)
        for line in requests:
            print(json.dumps(answer(model, json.loads(line))), file=results, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
