"""Features of tasks for what transformers' models of tasks read, of its golden files."""

from typing import Any

import numpy as np

# The token that BART's decoder begins with, and its texts end with.
_END = 2


def _choices_of(given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Choices one after another in the row of their question, without padding between them."""
    real = given["input/attention_mask"] > 0
    count, length = real.shape[1:]
    numbers, places = (
        np.broadcast_to(each, real.shape) for each in (np.arange(count)[:, None], np.arange(length))
    )

    def rows(values: np.ndarray) -> np.ndarray:
        joined = [values[row][real[row]] for row in range(len(real))]
        return np.stack([np.pad(each, (0, count * length - len(each))) for each in joined])

    sizes = real.sum(axis=2)
    first = np.arange(count) == 0
    return {
        "token_ids": rows(given["input/input_ids"]),
        "segment_ids": rows(given["input/token_type_ids"]),
        "position_ids": rows(places),
        "document_ids": rows(numbers + 1),
        "pooled_positions": np.cumsum(sizes, axis=1) - sizes,
        "choice_counts": np.tile(count * first, (len(real), 1)),
        "record_labels": given["input/labels"][:, None] * first,
        "record_weights": np.tile(first.astype("float32"), (len(real), 1)),
    }


def features_for(given: dict[str, np.ndarray], task: Any) -> dict[str, np.ndarray]:
    """Returns the features of a task for the inputs of a golden file; labels are those that it has."""
    if given["input/input_ids"].ndim == 3:
        return _in_32_bits(_choices_of(given))
    ids, labels = given["input/input_ids"], given.get("input/labels", np.zeros(3, "int64"))
    features = {
        "token_ids": ids,
        "position_ids": np.tile(np.arange(ids.shape[1]), (len(ids), 1)),
        "document_ids": given["input/attention_mask"],
    }
    if task.form.has_segments:
        features["segment_ids"] = given.get("input/token_type_ids", np.zeros_like(ids))
    if labels.ndim == 2:
        features |= {"label_ids": np.maximum(labels, 0), "label_weights": (labels >= 0).astype("float32")}
    else:
        is_last = task.form.summary_is_last
        lengths = given["input/attention_mask"].sum(axis=1, keepdims=True)
        features["pooled_positions"] = lengths - 1 if is_last else np.zeros_like(lengths)
        features |= {"record_labels": labels[:, None], "record_weights": np.ones((len(ids), 1), "float32")}
    if task.form.decoder_start:
        read = np.pad(ids, ((0, 0), (1, 0)), constant_values=_END)[:, :-1]
        side = {name: features[name] for name in ("position_ids", "document_ids")}
        features |= {f"decoder_{key}": value for key, value in {"token_ids": read, **side}.items()}
    return _in_32_bits(features)


def _in_32_bits(features: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {
        key: value if value.dtype == "float32" else value.astype("int32") for key, value in features.items()
    }
