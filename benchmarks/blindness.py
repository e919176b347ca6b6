"""Checks that a model's states do not depend on tokens that it must not see."""

import numpy as np
import tensorflow as tf

from firth import features as names

TOLERANCE = 1e-5


def largest_leak(backbone, model_kind: str, features: dict[str, np.ndarray]) -> float | None:
    """Changes a token of each row and returns how far states moved that must not depend on it.

    Args:
        backbone: Of a trained model.
        model_kind: As in recipes; other kinds than causal ones and LSTMs see everything.
        features: A batch of an objective.

    Returns:
        The largest change, or None where every token may be seen. A model that ignores its input would seem
        blind, so at least one state that may depend on the token must have moved.

    Raises:
        ValueError: if no state moved.
    """
    states = _STATES.get(model_kind)
    if states is None:
        return None
    prefix = "decoder_" if model_kind == "encoder_decoder" else ""
    ids = features[f"{prefix}document_ids"]
    # The middle of the real tokens, so that there are some on both sides.
    place = (ids > 0).sum(axis=1) // 2
    changed = _changed(features, prefix, place)
    moved, allowed = [], []
    for (before, after), forward in zip(states(backbone, features, changed), (True, False), strict=False):
        difference = np.abs(after - before).max(axis=-1)
        sees = _sees(features, prefix, place, forward)
        moved.append(difference[~sees & (ids > 0)].max(initial=0.0))
        allowed.append(difference[sees & (ids > 0)].max(initial=0.0))
    if min(allowed) <= TOLERANCE:
        raise ValueError(f"{model_kind}: no state depends on the token that was changed")
    return float(max(moved))


def _changed(features, prefix, place):
    rows = np.arange(len(place))
    name = names.CHARACTERS if names.CHARACTERS in features else f"{prefix}token_ids"
    values = features[name].copy()
    if name == names.CHARACTERS:
        values[rows, place] = np.roll(values[rows, place], 1, axis=-1)
    else:
        values[rows, place] -= 1
    return {**features, name: values}


def _sees(features, prefix, place, forward):
    """Returns which positions may see the changed one, bool [batch, length]."""
    ids, rows = features[f"{prefix}document_ids"], np.arange(len(place))
    same = ids == ids[rows, place][:, None]
    order = features.get(names.ATTENTION_ORDER)
    if order is None:
        order = np.tile(np.arange(ids.shape[1]), (len(ids), 1))
    order = order if forward else -order
    return same & (order >= order[rows, place][:, None])


def _numpy(value):
    return tf.cast(value, tf.float32).numpy()


def _one_direction(backbone, before, after):
    yield _numpy(backbone(before)), _numpy(backbone(after))


def _both_directions(backbone, before, after):
    """The forward and the backward half of the top layer."""
    yield from zip(
        np.split(_numpy(backbone(before)), 2, axis=-1),
        np.split(_numpy(backbone(after)), 2, axis=-1),
        strict=True,
    )


_STATES = {
    "causal_transformer": _one_direction,
    "encoder_decoder": _one_direction,
    "bilstm": _both_directions,
}
