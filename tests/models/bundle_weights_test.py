"""A model that starts from a bundle has its backbone, those heads that fit, and else what its seed made."""

import functools

import numpy as np
import pytest

# Bundles for tests are written with a tokenizer.
pytest.importorskip("tensorflow", reason="needs TensorFlow")

from firth.models import BundleError, build_model, bundle as bundles
from firth.models.bundle import WEIGHTS_FILE, load_model, specs_of, weights_by_path
from firth.models.bundle_weights import AddedPieces, start_from
from firth.recipes.objectives.masking import MaskedLM, SpanMasking
from tests.training import artifacts
from tests.training.artifacts import write_bundle

tiny_recipe = functools.partial(artifacts.tiny_recipe, next_sentence=True)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    return write_bundle(tmp_path_factory.mktemp("starting") / "bundle", tiny_recipe())


def with_(**changed):
    return tiny_recipe().model_copy(update=changed)


def arrays(model):
    return {name: np.array(each) for name, each in weights_by_path(model).items()}


def test_the_same_model_takes_everything(bundle):
    model = build_model(tiny_recipe())
    assert start_from(model, bundle).fresh == start_from(model, bundle).unused == ()
    for name, each in arrays(load_model(bundle)).items():
        np.testing.assert_array_equal(arrays(model)[name], each)


@pytest.mark.parametrize(("objective", "fresh", "unused"), [
    (MaskedLM(max_predictions=5, next_sentence=False), (), ("heads/pair_head", "heads/pooler")),
    (SpanMasking(max_predictions=5), ("heads/span_boundary_head",), ("heads/pair_head", "heads/pooler")),
])  # fmt: skip
def test_heads_that_the_bundle_lacks_are_made_by_the_seed(bundle, objective, fresh, unused):
    recipe, base = with_(objective=objective), arrays(load_model(bundle))
    model, untouched = build_model(recipe), arrays(build_model(recipe))
    start = start_from(model, bundle)
    assert {name for name in start.fresh if not name.startswith(fresh or "none")} == set()
    assert bool(start.fresh) == bool(fresh)
    assert start.unused and all(name.startswith(unused) for name in start.unused)
    for name, each in arrays(model).items():
        np.testing.assert_array_equal(each, (untouched if name in start.fresh else base)[name], err_msg=name)


def test_what_is_untrained_in_the_bundle_is_fresh_too(bundle, tmp_path):
    """A head that an import made is as random as one that this run makes."""
    weights, untrained = weights_by_path(load_model(bundle)), "heads/masked_lm_head/bias"
    pairs = ((name, np.array(each)) for name, each in weights.items())
    tokenizer, place = f"{bundle}/tokenizer", tmp_path / "imported"
    bundles.write_bundle(place, tiny_recipe(), tokenizer, specs_of(weights), pairs, fresh=[untrained])
    start = start_from(build_model(tiny_recipe()), place)
    assert (start.fresh, start.unused) == ((untrained,), ())


def test_added_pieces_start_as_the_mean_of_their_parts(bundle):
    base, rows = arrays(load_model(bundle)), tiny_recipe().tokenizer.vocabulary_size
    tokenizer = tiny_recipe().tokenizer.model_copy(update={"vocabulary_size": rows + 3})
    untouched = arrays(build_model(with_(tokenizer=tokenizer)))
    model = build_model(with_(tokenizer=tokenizer))
    # The last two rows of the bundle belong to no piece, and of three new pieces there are but two.
    added = AddedPieces(after=rows - 2, parts=[[7, 9, 9], [1]], rows=rows)
    assert start_from(model, bundle, added).fresh == ()
    grown = {name for name, each in arrays(model).items() if each.shape != base[name].shape}
    assert grown == {"backbone/token_embedding/table", "heads/masked_lm_head/bias"}
    for name in grown:
        before, after = base[name], arrays(model)[name]
        np.testing.assert_array_equal(after[: rows - 2], before[:-2])
        np.testing.assert_allclose(after[rows - 2], (before[7] + 2 * before[9]) / 3, rtol=1e-6, atol=1e-7)
        np.testing.assert_array_equal(after[rows - 1], before[1])
        np.testing.assert_array_equal(after[rows : rows + 2], before[-2:])
        np.testing.assert_array_equal(after[-1:], untouched[name][-1:])


@pytest.mark.parametrize(("before", "now", "fits"), [
    ((10, 4), (13, 4), True),
    ((4, 10), (4, 13), True),
    ((10,), (13,), True),
    ((9, 4), (13, 4), False),
    ((10, 4), (13, 5), False),
    ((10, 4), (10, 4), False),
    ((10, 4), (13, 4, 1), False),
    ((4, 10), (4,), False),
])  # fmt: skip
def test_a_weight_grows_only_by_the_rows_of_its_vocabulary(before, now, fits):
    assert AddedPieces(after=8, parts=[[1]], rows=10).fits(before, now) is fits


def test_another_backbone_is_refused(bundle):
    wide = tiny_recipe().model.model_copy(update={"width": 32})
    with pytest.raises(BundleError, match=r"another backbone: backbone/.*\[.*16.*\d+ more"):
        start_from(build_model(with_(model=wide)), bundle)
    deep = wide.model_copy(update={"layers": 2, "width": 16})
    with pytest.raises(BundleError, match="another backbone: no backbone/"):
        start_from(build_model(with_(model=deep)), bundle)


def test_a_damaged_file_is_refused(bundle, tmp_path):
    damaged = write_bundle(tmp_path / "bundle", tiny_recipe())
    path = tmp_path / "bundle" / WEIGHTS_FILE
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(BundleError, match="cannot be read"):
        start_from(build_model(tiny_recipe()), damaged)
