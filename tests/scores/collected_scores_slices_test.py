import numpy as np
import pytest

from firth.scores.collected_scores import Collected, label_slice


@pytest.mark.parametrize(
    ("reference", "name"), [("yes", "yes"), (np.int64(1), "1"), (np.True_, "True"), (np.str_("no"), "no")]
)
def test_labels_of_numpy(reference, name):
    assert label_slice(Collected("a", reference, reference)) == name


@pytest.mark.parametrize("reference", [0.5, None, ("a",)])
def test_another_reference_is_not_a_label(reference):
    with pytest.raises(ValueError, match=r"'a' .*str, int or bool"):
        label_slice(Collected("a", reference, "yes"))
