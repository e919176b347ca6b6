"""Types of what TFX hands to an executor."""

from typing import Any

from tfx.types import Artifact

# Artifacts by the name of the input or output.
Artifacts = dict[str, list[Artifact]]
# Values by the name of the parameter.
Properties = dict[str, Any]
