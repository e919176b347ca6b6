"""Several adapters in one SavedModel: each record is answered as by its adapter alone."""

import numpy as np
import pytest
import tensorflow as tf

from firth.models.bundle import weights_by_path
from firth.recipes.tuning.adding import AdaLoRA, Houlsby, LoRA
from firth.recipes.tuning.prompts import PrefixTuning
from firth.serving.adapter_export import export_adapters
from firth.serving.exported_model import read_description
from firth.serving.served_model import Served
from firth.serving.signatures import text_signatures
from firth.serving.slots.loaded import Loaded
from firth.tokenizers import WordPieceTokenizer
from firth.tuning import load_adapter, load_adapters, save_adapter
from tests.training.artifacts import VOCABULARY
from tests.tuning.drawn import drawn
from tests.tuning.runs import adapting

TEXTS = [b"w1 w2 w3", b"w7", b"w4 w5", b"w9 w9", b"w1"]
NAMES = [b"films", b"norms", b"norms", b"films", b"norms"]
METHODS = {"films": AdaLoRA(initial_rank=2, target_rank=1), "norms": PrefixTuning(length=2, hidden=8)}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Each adapter alone, and the folder of the SavedModel with all."""
    folder = tmp_path_factory.mktemp("adapters")
    base = adapting("bert", folder)
    adapters = {}
    for seed, (name, method) in enumerate(METHODS.items()):
        recipe = base.model_copy(update={"method": method})
        adapters[name] = (drawn(recipe, seed), recipe)
    tokenizer = WordPieceTokenizer(VOCABULARY)
    export_adapters(adapters, tokenizer, str(folder / "served"))
    return {name: Served(model, tokenizer, recipe) for name, (model, recipe) in adapters.items()}, folder


@pytest.fixture(scope="module")
def loaded(served):
    return Loaded(str(served[1] / "served"))


def alone(one: Served) -> dict[str, np.ndarray]:
    found = text_signatures(one.recipe)["classify"].function(one, tf.constant(TEXTS))
    return {key: each.numpy() for key, each in found.items()}


# In the last batch one adapter is not asked.
@pytest.mark.parametrize(
    "names",
    [
        pytest.param(NAMES, id="both"),
        pytest.param([b"norms"] * len(TEXTS), id="one", marks=pytest.mark.repeated),
    ],
)
def test_each_record_is_answered_by_its_own_adapter_in_the_loader_of_tf_serving(served, loaded, names):
    parts, _ = served
    answers = loaded.run("classify", {"text": TEXTS, "adapter": names})
    of_adapters = {name.encode(): alone(each) for name, each in parts.items()}
    others = []
    for row, name in enumerate(names):
        expected = of_adapters[name]
        (other,) = of_adapters.keys() - {name}
        others.append(of_adapters[other]["probabilities"][row])
        assert answers["label"][row] == expected["label"][row]
        assert list(answers["labels"][row]) == list(expected["labels"][row])
        np.testing.assert_allclose(answers["probabilities"][row], expected["probabilities"][row], atol=1e-5)
    assert np.abs(answers["probabilities"] - np.stack(others)).max() > 0.01


def test_an_unknown_adapter_is_an_error_that_names_those_there_are(loaded):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)films, norms.*film\b"):
        loaded.run("classify", {"text": TEXTS[:2], "adapter": [b"films", b"film"]})


def test_the_base_is_held_once(served):
    parts, folder = served
    sizes = tf.train.list_variables(str(folder / "served" / "variables" / "variables"))
    held = sum(int(np.prod(shape)) for name, shape in sizes if name.startswith("model_variables"))
    trained = sum(sum(int(np.prod(w.shape)) for w in each.model.trainable_weights) for each in parts.values())
    base = parts["films"].model.backbone.count_params()
    assert base < held < base + trained + 100


def test_models_of_one_base_hold_it_once(tmp_path):
    folders = {"a": LoRA(rank=2), "b": Houlsby(bottleneck=3)}
    base = adapting("bert", tmp_path)
    for name, method in folders.items():
        recipe = base.model_copy(update={"method": method})
        save_adapter(drawn(recipe), recipe, tmp_path / name)
    adapters = {name: tmp_path / name for name in folders}
    loaded = load_adapters(adapters, base.base.bundle)
    expected = {name: load_adapter(place, base.base.bundle)[0] for name, place in adapters.items()}
    (one, _), (other, _) = loaded.values()
    paths = {path for path, each in weights_by_path(other).items() if path.startswith("backbone/")}
    frozen = {path for path in paths if not weights_by_path(other)[path].trainable}
    assert len(frozen) > 5 and len(paths - frozen) == 4  # Houlsby's norms are its own.
    for path in paths:
        is_one = weights_by_path(one)[path].value is weights_by_path(other)[path].value
        assert is_one == (path in frozen), path
    for name, (model, _) in loaded.items():
        for path, each in weights_by_path(model).items():
            np.testing.assert_array_equal(each, weights_by_path(expected[name])[path], err_msg=path)


def test_the_description_says_the_adapters_and_the_input(served):
    said = read_description(str(served[1] / "served"))
    assert list(said["adapters"]) == list(METHODS)
    assert list(said["signatures"]["classify"]["inputs"]) == ["text", "adapter"]
    assert said["signatures"]["classify"]["example"]["adapter"] == "films"


def test_what_does_not_fit_together_is_refused(served, tmp_path):
    parts, _ = served
    films = (parts["films"].model, parts["films"].recipe)
    tokenizer = parts["films"].tokenizer
    other = films[1].model_copy(update={"base": films[1].base.model_copy(update={"digest": "0" * 64})})
    with pytest.raises(ValueError, match=rf"films .*{films[1].base.digest}, .*b .* 0+"):
        export_adapters({"films": films, "b": (films[0], other)}, tokenizer, str(tmp_path / "made"))
    task = films[1].task.model_copy(update={"labels": ("no", "perhaps", "yes")})
    wider = films[1].model_copy(update={"task": task})
    third = (drawn(wider), wider)
    with pytest.raises(ValueError, match=r"films and b .* probabilities .*2\] and \[None, 3\]"):
        export_adapters({"films": films, "b": third}, tokenizer, str(tmp_path / "made"))
    assert not (tmp_path / "made").exists()
