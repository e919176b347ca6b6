"""Descriptions of signatures, made of their facts and their graphs."""

from collections.abc import Mapping
from typing import Any

from firth.serving.descriptions.output import Output, input_of_strings
from firth.serving.signature import Signature

EVALUATE, PREDICT_EXAMPLES = "evaluate", "predict_examples"
# Signatures on serialized examples, with the meaning of each.
OTHER_SIGNATURES = {
    EVALUATE: "Gives what each row adds to the metrics, and what scores are computed from.",
    PREDICT_EXAMPLES: (
        "Answers as the task's signature does, to the texts in the features of its inputs' names. What is "
        "one value there has an axis of size 1 after the batch."
    ),
}


def described_signature(signature: Signature, function: Any) -> dict[str, Any]:
    """Returns the description of a signature on texts, fit for JSON.

    Raises:
        ValueError: if the graph has other outputs than the signature describes.
    """
    return {**signature.describe(), "outputs": _described_outputs(signature.outputs, function)}


def described_on_examples(name: str, function: Any) -> dict[str, Any]:
    """Returns the description of a signature on serialized examples, fit for JSON."""
    specs = function.get_concrete_function().structured_outputs
    return {
        "meaning": OTHER_SIGNATURES[name],
        "inputs": {"examples": input_of_strings("serialized tf.Examples")},
        "outputs": {key: _of_graph(each).describe() for key, each in specs.items()},
    }


def _described_outputs(outputs: Mapping[str, Output], function: Any) -> dict[str, Any]:
    """Returns the descriptions of outputs, with the sizes that the graph knows."""
    specs = function.get_concrete_function().structured_outputs
    if specs.keys() != outputs.keys():
        raise ValueError(f"the graph answers {', '.join(specs)}; described are {', '.join(outputs)}")
    return {name: _with_sizes(name, each, specs[name]) for name, each in outputs.items()}


def _with_sizes(name: str, output: Output, spec: Any) -> dict[str, Any]:
    sizes = spec.shape.as_list() if spec.shape.rank is not None else [None] * len(output.shape)
    if (output.dtype, len(output.shape)) != (spec.dtype.name, len(sizes)):
        raise ValueError(
            f"{name}: described as {output.dtype} {list(output.shape)}, but the graph answers "
            f"{spec.dtype.name} {sizes}"
        )
    known = [axis if size is None else size for axis, size in zip(output.shape, sizes)]
    return {**output.describe(), "shape": known}


def _of_graph(spec: Any) -> Output:
    """Returns an output as the graph knows it, without a meaning: its name has to do."""
    sizes = [f"axis {axis}" if size is None else size for axis, size in enumerate(spec.shape)]
    return Output("", spec.dtype.name, ("batch", *sizes[1:]))
