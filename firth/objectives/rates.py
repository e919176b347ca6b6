"""What an objective really did, measured on its output."""

import numpy as np

from firth import features


def measure_rates(made: dict, special_ids, mask_id: int) -> dict[str, float]:
    """Returns the measured rates of masked LM features.

    Args:
        made: Features of one example or of a batch, arrays or tensors as `features.masked_lm_specs`.
        special_ids: All special ids.
        mask_id: Id of `[MASK]`.

    Returns:
        `selected`, predicted tokens over all that could be; of the predicted ones `masked`, `random` and
        `kept` (a random piece that happens to be the original counts as kept) and `special`, the share
        whose label is a special piece; `random_next`, of the pairs. 0 where there is nothing to count.

    Example:

    >>> rates = measure_rates(
    ...     {
    ...         "token_ids": [[2, 4, 8, 9, 3, 0]],
    ...         "document_ids": [[1, 1, 1, 1, 1, 0]],
    ...         "masked_positions": [[1, 3]],
    ...         "masked_labels": [[7, 9]],
    ...         "masked_weights": [[1.0, 1.0]],
    ...         "next_sentence_labels": [[1]],
    ...         "next_sentence_weights": [[1.0]],
    ...     }, special_ids=(0, 1, 2, 3, 4), mask_id=4)
    >>> rates["masked"], rates["kept"], rates["random"], rates["special"], round(rates["selected"], 2)
    (0.5, 0.5, 0.0, 0.0, 0.67)
    """
    made = {name: np.atleast_2d(np.asarray(value)) for name, value in made.items()}
    used = made[features.MASKED_WEIGHTS] > 0
    labels = made[features.MASKED_LABELS][used]
    shown = np.take_along_axis(made[features.TOKEN_IDS], made[features.MASKED_POSITIONS], axis=1)[used]
    ordinary = ~np.isin(made[features.TOKEN_IDS], special_ids) & (made[features.DOCUMENT_IDS] > 0)
    hidden = np.isin(shown, special_ids) & ~np.isin(labels, special_ids)
    pairs = made[features.NEXT_SENTENCE_WEIGHTS] > 0
    return {
        "selected": _share(used.sum(), ordinary.sum() + hidden.sum()),
        "masked": _share((shown == mask_id).sum(), used.sum()),
        "random": _share(((shown != mask_id) & (shown != labels)).sum(), used.sum()),
        "kept": _share((shown == labels).sum(), used.sum()),
        "special": _share(np.isin(labels, special_ids).sum(), used.sum()),
        "random_next": _share((made[features.NEXT_SENTENCE_LABELS][pairs] > 0).sum(), pairs.sum()),
    }


def _share(part, whole) -> float:
    return float(part / whole) if whole else 0.0
