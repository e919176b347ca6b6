"""The share of labels that the form of the segments tells, without what they say."""

from typing import Any

import numpy as np
import numpy.typing as npt

_TREES, _FOLDS = 40, 3
# A leaf of so many pairs, or of such a share of all, so that trees learn no single pairs.
_LEAF, _LEAF_SHARE = 10, 0.01


def told_by_forest(values: npt.NDArray[Any], labels: npt.NDArray[Any], groups: npt.NDArray[Any]) -> float:
    """Returns the share of labels that a small random forest tells of pairs whose documents it has not seen.

    Values that tell nothing give about the share of the more frequent label.

    Args:
        values: What is known of each pair, float [n, values].

    Example: what is longer than 3 has the label 1.

    >>> lengths = np.arange(200) % 8
    >>> told_by_forest(lengths[:, np.newaxis], (lengths > 3).astype(int), np.arange(200) // 8)
    1.0
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import GroupKFold, KFold, cross_val_predict

    if len(labels) < 2 * _FOLDS:
        return 0.0
    leaf = max(_LEAF, int(_LEAF_SHARE * len(labels)))
    forest = RandomForestClassifier(_TREES, min_samples_leaf=leaf, random_state=0)
    # With fewer documents than folds there are no documents that are unseen.
    folds = GroupKFold(_FOLDS) if len(np.unique(groups)) >= _FOLDS else KFold(_FOLDS)
    return float((cross_val_predict(forest, values, labels, groups=groups, cv=folds) == labels).mean())
