"""Arguments of Keras's `fit` and `evaluate` for texts, records, or batches of features."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from firth import features as names
from firth.language_model.texts import check_labels, is_path, is_table, list_rows
from firth.models.goal_training import WEIGHTS

if TYPE_CHECKING:
    from firth.language_model.model import LanguageModel

_BATCH = 32


def fit_data(model: "LanguageModel", x: Any, y: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments of `keras.Model.fit` for texts, records, or batches of features."""
    _refuse_weights(given)
    keywords = dict(given)
    epochs, size = keywords.get("epochs", 1), keywords.get("batch_size")
    if keywords.get("validation_split") and not has_features(x):
        x, y, keywords["validation_data"] = _split(x, y, keywords.pop("validation_split"))
    held_out = keywords.get("validation_data")
    if held_out is not None and not has_features(held_out):
        texts, labels = held_out if isinstance(held_out, tuple) else (held_out, None)
        batches = _batches(model, texts, labels, size or _BATCH, 1)
        keywords |= {"validation_data": batches.data, "validation_steps": batches.steps}
    if has_features(x):
        return {"x": x, "y": y, **keywords}
    batches = _batches(model, x, y, size or _BATCH, epochs)
    keywords.pop("batch_size", None)
    return {"x": batches.data, "steps_per_epoch": batches.steps, **keywords}


def evaluate_data(model: "LanguageModel", x: Any, y: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments of `keras.Model.evaluate` for texts, records, or batches of features."""
    _refuse_weights(given)
    if has_features(x):
        return {"x": x, "y": y, **given}
    keywords = dict(given)
    batches = _batches(model, x, y, keywords.pop("batch_size", None) or _BATCH, 1)
    return {"x": batches.data, "steps": batches.steps, **keywords}


def has_features(data: Any) -> bool:
    """Returns true for batches of features, or what Keras makes such batches of."""
    if isinstance(data, Mapping):
        return names.TOKEN_IDS in data or names.CHARACTERS in data
    if (spec := getattr(data, "element_spec", None)) is not None:
        first = spec[0] if isinstance(spec, tuple) else spec
        return isinstance(first, Mapping) and has_features(first)
    if is_path(data) or isinstance(data, Sequence) or is_table(data):
        return False
    # Arrays, series and tensors are of texts; generators and Keras's own datasets give features.
    return not hasattr(data, "dtype")


def _refuse_weights(given: Mapping[str, Any]) -> None:
    for name in WEIGHTS:
        if given.get(name) is not None:
            raise ValueError(f"{name}: weights follow from the recipe's goal; leave it out")


def _split(x: Any, y: Any, share: float) -> tuple[Any, Any, Any]:
    """Returns texts and labels without the last share of them, and that share, as Keras splits arrays."""
    rows = list_rows(x, "x")
    kept = int(len(rows) * (1 - share))
    if not 0 < kept < len(rows):
        raise ValueError(f"validation_split={share} of {len(rows)} texts leaves one part empty")
    if y is None:
        return rows[:kept], None, rows[kept:]
    check_labels(y, rows)
    labels = list(y)
    return rows[:kept], labels[:kept], (rows[kept:], labels[kept:])


def _batches(model: "LanguageModel", x: Any, y: Any, batch_size: int, epochs: int) -> Any:
    # Raises if the model has no tokenizer, before TensorFlow is needed.
    _ = model.tokenizer
    from firth.language_model.text_batches import batches_of

    return batches_of(model, x, y, batch_size, epochs)
