"""KerasHub's models: made of a configuration, and their weights by name."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import keras
import keras_hub

from firth.interop.hugging_face.rules import Array
from firth.interop.keras_hub.family import PresetFamily

# Keras numbers layers without a name by how many a process has made.
_UNNAMED = re.compile(r"t5_layer_norm(_\d+)?/")


def make_backbone(family: PresetFamily, config: Mapping[str, Any]) -> keras.Model:
    """Returns KerasHub's backbone, with weights of float32 that are not yet those of a model."""
    return getattr(keras_hub.models, family.backbone)(**config, dtype="float32")


def by_name(variables: Iterable[keras.Variable]) -> dict[str, keras.Variable]:
    """Returns variables by names that do not depend on what else a process has made.

    Names are paths. Norms without a name are `norm_0`, `norm_1`, ... of their block; a second variable of the
    same name is `self_attention_1/embeddings`.
    """
    named: dict[str, keras.Variable] = {}
    for variable in variables:
        paths = _candidates(variable.path)
        named[next(path for path in paths if path not in named)] = variable
    return named


def _candidates(path: str) -> Iterable[str]:
    if _UNNAMED.search(path):
        return (_UNNAMED.sub(f"norm_{number}/", path) for number in range(3))
    layer, _, name = path.rpartition("/")
    return (f"{layer}{suffix}/{name}" for suffix in ("", "_1"))


def arrays_of(variables: Mapping[str, keras.Variable]) -> dict[str, Array]:
    """Returns the values of variables."""
    return {name: keras.ops.convert_to_numpy(each.value) for name, each in variables.items()}
