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

# As `lean_import` does: TensorFlow goes on without these, and loads them if they are there.
if __name__ == "__main__":
    for optional in ("IPython", "googleapiclient", "matplotlib", "pandas", "sklearn"):
        sys.modules[optional] = None  # type: ignore[assignment]

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow.python.framework import op_def_registry


def graph_ops(directory):
    """Returns the names of all ops in a SavedModel's graph and function library, sorted."""
    with tf.io.gfile.GFile(os.path.join(directory, "saved_model.pb"), "rb") as file:
        graphs = [meta.graph_def for meta in saved_model_pb2.SavedModel.FromString(file.read()).meta_graphs]
    nodes = [node for graph in graphs for node in graph.node]
    nodes += [node for graph in graphs for function in graph.library.function for node in function.node_def]
    functions = {function.signature.name for graph in graphs for function in graph.library.function}
    return sorted({node.op for node in nodes} - functions)


def libraries(ops):
    """Returns which library registers each op, and imports tensorflow-text on the way."""
    core = {op for op in ops if op_def_registry.get(op) is not None}
    import tensorflow_text  # noqa: F401

    text = {op for op in ops if op_def_registry.get(op) is not None} - core
    return {op: "tensorflow" if op in core else "tensorflow_text" if op in text else None for op in ops}


def describe(tensors):
    """Returns dtype and shape (None where any size will do) of a signature's inputs or outputs."""
    return {
        name: {
            "dtype": tf.dtypes.as_dtype(info.dtype).name,
            "shape": [None if axis.size < 0 else axis.size for axis in info.tensor_shape.dim],
        }
        for name, info in sorted(tensors.items())
    }


class Loaded:
    """A model in a V1 session, the way TF Serving holds it."""

    def __init__(self, directory):
        self.session = tf.compat.v1.Session(graph=tf.Graph())
        meta_graph = tf.compat.v1.saved_model.loader.load(self.session, ["serve"], directory)
        # The loader's own signatures, such as that of the initializer, have no method.
        predict = tf.compat.v1.saved_model.signature_constants.PREDICT_METHOD_NAME
        self.signatures = {
            name: signature
            for name, signature in meta_graph.signature_def.items()
            if signature.method_name == predict
        }

    def run(self, name, inputs):
        """Returns the outputs of a signature as arrays, for inputs as lists of bytes."""
        if name not in self.signatures:
            raise LookupError(f"the model has no signature {name}")
        signature = self.signatures[name]
        feed = {signature.inputs[key].name: np.array(values, object) for key, values in inputs.items()}
        return self.session.run({key: info.name for key, info in signature.outputs.items()}, feed)


def problem_of(outputs, batch):
    """Returns what is wrong with outputs by themselves, or None."""
    for name, values in outputs.items():
        if values.shape[:1] != (batch,):
            return f"{name} has shape {values.shape} for a batch of {batch}"
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            return f"{name} is not finite"
    return None


def difference(whole, single, row, names, tolerance):
    """Returns how a batch's row differs from the same request asked alone, or None.

    Outputs are padded to the longest of their batch, so only the part that both have is compared; what the
    batch has beyond it must be padding.
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


def check(model, request):
    """Runs one request, and its rows one by one where that is asked; returns the problem or None."""
    name, inputs = request["signature"], request["inputs"]
    batch = len(next(iter(inputs.values())))
    outputs = model.run(name, inputs)
    problem = problem_of(outputs, batch)
    for row in range(batch if request["compare"] else 0):
        alone = model.run(name, {key: values[row : row + 1] for key, values in inputs.items()})
        problem = problem or difference(outputs, alone, row, request["compare"], request["tolerance"])
    return problem


def answer(model, request):
    """Returns the result of one request: seconds, the problem if any, and whether it was refused."""
    request["inputs"] = {
        key: [base64.b64decode(v) for v in values] for key, values in request["inputs"].items()
    }
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


def main(directory, requests_path, results_path):
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
