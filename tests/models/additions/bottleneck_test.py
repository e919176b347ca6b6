"""Bottleneck adapters give what those of the library `adapters` give with the same weights."""

import json
import pathlib
import re

import numpy as np
import pytest

from firth.models import PretrainingModel
from firth.models.additions.addition_places import path_below, places_of
from firth.models.additions.bottleneck import add_bottlenecks, norms_of
from firth.recipes.objectives.masking import MaskedLM
from firth.recipes.tuning.adding import Houlsby, Pfeiffer
from tests.models import references
from tests.models.table import ENCODERS, VOCABULARY
from tests.repeating import often

GOLDEN = pathlib.Path(__file__).parent / "golden"
NAMES = sorted(each.stem for each in GOLDEN.glob("*.npz"))
METHODS = {"houlsby": Houlsby(bottleneck=4, activation="silu"), "pfeiffer": Pfeiffer(reduction_factor=4)}


def place_of(name: str) -> str:
    """Path of our place of a weight of theirs."""
    block = re.search(r"\.(\d+)\.", f".{name}").group(1)
    return f"block_{block}/{'attention' if 'attention' in name else 'feed_forward'}"


@pytest.mark.parametrize("name", often(NAMES, ["bert_houlsby", "gpt2_pfeiffer"]))
def test_hidden_states_are_those_of_adapters(name):
    with np.load(GOLDEN / f"{name}.npz") as arrays:
        golden = dict(arrays)
    base, method = (json.loads(str(golden["made_with"]))[key] for key in ("base", "method"))
    references.build_model.cache_clear()
    model = references.build_model(base)
    references.build_model.cache_clear()
    add_bottlenecks(model, METHODS[method])
    places = {path_below(place).split("/", 1)[1]: place for place in places_of(model)}
    count = 0
    for key, weight in golden.items():
        if key.startswith("weight/"):
            place = places[place_of(key)]
            _, part, kind = re.search(r"(adapter_)(down|up)(?:\.0)?\.(\w+)$", key).groups()
            own = place.layer.addition(place.name)
            getattr(own, part if kind == "weight" else f"{part}_bias").assign(weight.T)
            count += 1
    assert count == len(model.added.weights)
    features = references.features_of(base)
    real = features["document_ids"] > 0
    found = np.array(model.backbone(features))
    np.testing.assert_allclose(found[real], golden["hidden/last"][real], atol=1e-5)


def test_a_sublayer_without_a_norm_has_its_adapter_too():
    """ModernBERT has none before its first attention."""
    model = PretrainingModel(ENCODERS["modernbert"], MaskedLM(next_sentence=False), VOCABULARY, seed=1)
    model.build()
    add_bottlenecks(model, METHODS["houlsby"])
    sublayers = 2 * ENCODERS["modernbert"].layers
    assert len(model.added.held) == sublayers
    assert len(norms_of(model, METHODS["houlsby"])) == sublayers - 1
