"""Types of what TFX hands to an executor."""

from typing import Any

from tfx.types import Artifact

# Artifacts by the name of the input or output.
Artifacts = dict[str, list[Artifact]]
# Values by the name of the parameter.
Properties = dict[str, Any]


def only_artifact(inputs: Artifacts, name: str) -> Artifact:
    """Returns the artifact of an input that takes one.

    Example:

    >>> only_artifact({"examples": []}, "examples")
    Traceback (most recent call last):
    ValueError: examples: this input takes one artifact, and none came in
    """
    found = inputs.get(name, [])
    if len(found) != 1:
        came = f"{len(found)} came in: {', '.join(each.uri for each in found)}" if found else "none came in"
        raise ValueError(f"{name}: this input takes one artifact, and {came}")
    return found[0]
