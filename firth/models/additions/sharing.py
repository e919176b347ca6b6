"""The memory of a base that several models with additions have together."""

import keras

from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.bundle import weights_by_path


def share_base(model: BackboneWithHeads, held: dict[str, keras.Variable]) -> None:
    """Gives a model's weights of its base the memory of those of another model on the same base.

    Example: see `tests/serving/adapters/export_test.py`.
    """
    for path, each in weights_by_path(model).items():
        if each.trainable or path.startswith(f"{model.added.name}/"):
            continue
        # Keras has no public way to say that two of its variables are one.
        each._value = held.setdefault(path, each).value
