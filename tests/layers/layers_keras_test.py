"""Keras's own features with every layer: summaries, the functional API, `Sequential`, masks and files."""

import functools
import inspect
import warnings

import keras
import numpy as np
import pytest

import firth.layers
from tests.layers.inputs import BATCH, LENGTH, VOCABULARY, WIDTH
from tests.layers.layers_checklist_test import STACKS as COMPILED_STACKS, call, make, numpy
from tests.layers.table import CASES
from tests.repeating import often

IDS = np.array([[1, 2, 3, 4, 0, 0], [5, 6, 7, 8, 9, 10], [1, 0, 0, 0, 0, 0]], "int32")
# Layers of states that need something else next to them, which no mask says.
NEEDS_MORE = {
    "TwoStreamAttention": "content",
    "TwoStreamBlock": "content",
    "MaskedLMHead": "masked_positions",
    "SpanBoundaryHead": "left",
    "Attention, cross": "context",
    "DisentangledAttention": "positions",
}
# Those whose output has a place for each token, so that they hand a mask on; no other has.
OTHER_PLACES = {"Pooler", "AttentionPooling", "ScalarMix"}


def reads_states(name) -> bool:
    first = CASES[name].inputs(0)[0]
    return first.shape == (BATCH, LENGTH, WIDTH) and first.dtype == "float32"


def needed_by(name) -> str:
    return NEEDS_MORE.get(name) or NEEDS_MORE.get(name.split(",")[0], "")


STATES = [name for name in CASES if reads_states(name)]


def inputs_of(name) -> tuple:
    """Returns the class of a layer and the ranks of its inputs, which is all that Keras's own parts see."""
    return name.split(",")[0], *(each is not None and each.ndim for each in CASES[name].inputs(0))


FIRST = {inputs_of(name): name for name in reversed(CASES)}
ALONE = [name for name in STATES if not needed_by(name)]


# Backbones are made of these, and `tests/models` saves, clones and summarises all of those.
STACKS = COMPILED_STACKS - {"TransformerBlock"}


def of_each(names, left_out=()):
    """A case of each class and inputs; `make test-repeated` has the others."""
    few = [name for name in names if FIRST[inputs_of(name)] == name and name.split(",")[0] not in left_out]
    return pytest.mark.parametrize("name", often(names, few))


layers = of_each(CASES, STACKS)


class Holding(keras.Model):
    """A model with one layer, which is called with some inputs and None for the others."""

    def __init__(self, layer, name, inputs, **kwargs):
        super().__init__(**kwargs)
        self.layer, self._case, self._is_given = layer, name, [each is not None for each in inputs]

    def call(self, given):
        rest = iter(given)
        return call(
            self.layer, self._case, *(next(rest) if is_given else None for is_given in self._is_given)
        )


@functools.cache
def masked(tokens: bytes = IDS.tobytes()):
    """States of tokens, with the mask of an embedding, and the embedding."""
    # `set_random_seed` drops TensorFlow's kernels, which all layers after it make anew.
    drawn = keras.initializers.RandomUniform(-0.05, 0.05, seed=3)
    embedding = keras.layers.Embedding(VOCABULARY, WIDTH, drawn, mask_zero=True)
    embedding(IDS)
    return embedding


def test_every_exported_layer_is_in_the_table():
    exported = {
        name
        for name in firth.layers.__all__
        if inspect.isclass(each := getattr(firth.layers, name)) and issubclass(each, keras.layers.Layer)
    }
    assert exported - {case.make.__name__ for case in CASES.values()} == {"LSTM"} - set(CASES)


# Its own part is which shapes a class knows of.
@pytest.mark.parametrize(
    "name",
    often(
        CASES,
        # States, ids, characters and chains; of heads, blocks and positions one each.
        [
            *("Attention", "FeedForward", "InputEmbedding", "CharCNN", "Pooler", "LinearChainCRF"),
            *("MaskedLMHead", "RelativeBucketBias", "RotaryPositions", "Dropout", "ScalarMix"),
        ],
    ),
)
def test_a_summary_of_a_model_that_holds_it(name):
    inputs = CASES[name].inputs(0)
    layer = make(name, seed=5)
    model = Holding(layer, name, inputs)
    model([each for each in inputs if each is not None])
    lines = []
    keras.Sequential([model]).summary(print_fn=lambda line, **_: lines.append(line), expand_nested=True)
    assert layer.name in "".join(lines)
    # What Keras knows of a layer that another one has built.
    built = make(name, seed=5)
    build = inspect.signature(type(built).build).parameters
    if "kwargs" not in build and len(build) > 1:
        shape = inputs[0].shape
        built.build(shape)
        known = dict(list(build.items())[1:2])
        try:
            found = built.compute_output_shape(**dict.fromkeys(known, shape), **CASES[name].named)
        except NotImplementedError:
            return
        assert len(found) == len(CASES[name].output_shape)


@layers
def test_in_the_functional_api_saved_and_cloned(name, tmp_path):
    case = CASES[name]
    inputs = case.inputs(0)
    if any(place in case.shared for place in range(len(inputs))) or not case.batched:
        pytest.skip("an input or the output has no batch axis")
    symbols = [
        None if each is None else keras.Input(batch_shape=each.shape, dtype=str(each.dtype))
        for each in inputs
    ]
    model = keras.Model(
        [each for each in symbols if each is not None], call(make(name, seed=5), name, *symbols)
    )
    given = [each for each in inputs if each is not None]
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(numpy(loaded(given)), numpy(model(given)), atol=1e-6)
    assert keras.models.clone_model(model).count_params() == model.count_params()


# Below, masks of most stacks are tried in another way.
@of_each(ALONE, STACKS - {"MaskedTransformer"})
def test_in_sequence_after_an_embedding_with_a_mask(name):
    """Masked places change nothing else, and the mask is passed on."""
    embedding, layer = masked(), make(name, seed=5)
    model = keras.Sequential([embedding, layer])
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        found = numpy(model(IDS))
    states = embedding(IDS)
    mask = keras.ops.not_equal(IDS, 0)
    takes_mask = "mask" in inspect.signature(layer.call).parameters
    if takes_mask:
        np.testing.assert_allclose(
            numpy(layer(keras.ops.stop_gradient(states) * 1.0, mask=mask)), found, atol=1e-5
        )
        other = np.where(np.array(mask)[..., None], numpy(states), 7.0).astype("float32")
        changed = numpy(layer(other, mask=mask))
        places = np.array(mask) if found.shape[:2] == IDS.shape else np.ones(found.shape[:2], bool)
        np.testing.assert_allclose(changed[places], found[places], atol=1e-5)
    kept = getattr(layer(states), "_keras_mask", None)
    assert (kept is None) == (name.split(",")[0] in OTHER_PLACES)


def ones(length):
    return np.ones((BATCH, length), "int32")


def counted(length):
    return np.tile(np.arange(length, dtype="int32"), (BATCH, 1))


def no_bias(length):
    return np.zeros((BATCH, 1, length, length), "float32")


# What a user gives next to masked states of a length; Keras then has another name for the mask.
NEXT_TO_STATES = {
    "Attention": ("bias", no_bias),
    "TransformerBlock": ("bias", no_bias),
    "DisentangledAttention": ("positions", counted),
    "MaskedTransformer": ("position_ids", counted),
    "CausalTransformer": ("document_ids", ones),
    "TwoStreamTransformer": ("segment_ids", ones),
    "BiLSTM": ("document_ids", ones),
    "LSTM": ("document_ids", ones),
    "AttentionPooling": ("document_ids", ones),
    "LinearChainCRF": ("chain_ids", ones),
}


@pytest.mark.parametrize(
    "name",
    often(NEXT_TO_STATES, set(NEXT_TO_STATES) - {"CausalTransformer", "TwoStreamTransformer", "BiLSTM"}),
)
def test_a_mask_hides_padding_next_to_other_tensors_too(name):
    """States are the same with more padding, whose embeddings are not zeros."""
    layer, (key, other) = make(name, seed=5), NEXT_TO_STATES[name]
    ids = keras.Input((None,), dtype="int32")
    given = keras.Input(batch_shape=(None, *other(1).shape[1:-1], None), dtype=other(1).dtype.name)
    if other is no_bias:
        given = keras.Input((1, None, None))
    read = given
    if name == "DisentangledAttention":
        read = firth.layers.DisentangledPositions(WIDTH, max_distance=4, buckets=None, seed=3)(given)
    model = keras.Model([ids, given], layer(masked()(ids), **{key: read}))
    longer = np.pad(IDS, ((0, 0), (0, 3)))
    short, long = (numpy(model([each, other(each.shape[1])])) for each in (IDS, longer))
    places = IDS != 0 if short.shape[1] == LENGTH else np.ones(short.shape[:2], bool)
    np.testing.assert_allclose(long[:, : short.shape[1]][places], short[places], atol=1e-5)


CROSS = {
    "Attention": lambda **given: firth.layers.Attention(
        WIDTH, 2, cross=True, initializer_stddev=0.3, **given
    ),
    "TransformerBlock": lambda **given: firth.layers.TransformerBlock(STACK, cross_attention=True, **given),
    "CausalTransformer": lambda **given: firth.layers.CausalTransformer(STACK, cross_attention=True, **given),
}
STACK = {"layers": 1, "width": WIDTH, "attention": {"heads": 2}, "feed_forward": {"width": 12}}
STACK |= {"initializer_stddev": 0.3}


@pytest.mark.parametrize("name", often(CROSS, ["Attention", "CausalTransformer"]))
@pytest.mark.parametrize("padded", ["hidden", "context"])
def test_masks_of_states_and_of_a_context_are_both_read(name, padded):
    layer = CROSS[name](seed=5)
    ids, of_context = (keras.Input((None,), dtype="int32") for _ in range(2))
    model = keras.Model([ids, of_context], layer(masked()(ids), context=masked()(of_context)))
    other, longer = IDS[::-1, :4], {"hidden": IDS, "context": IDS[::-1, :4]}
    longer[padded] = np.pad(longer[padded], ((0, 0), (0, 3)))
    short, long = numpy(model([IDS, other])), numpy(model([longer["hidden"], longer["context"]]))
    np.testing.assert_allclose(long[:, :LENGTH][IDS != 0], short[IDS != 0], atol=1e-5)
    without = model.layers[-1](numpy(masked()(IDS)), context=numpy(masked()(other)))
    assert np.abs(numpy(without)[IDS != 0] - short[IDS != 0]).max() > 1e-4


@pytest.mark.parametrize("name", [name for name in STATES if needed_by(name)])
def test_what_is_needed_next_to_states_is_named(name):
    layer = make(name, seed=5)
    with pytest.raises((TypeError, ValueError), match=needed_by(name)):
        layer(CASES[name].inputs(0)[0])


@pytest.mark.parametrize(
    "name",
    often(
        ["Attention", "FeedForward", "MaskedTransformer", "CausalTransformer", "BiLSTM"],
        ["Attention", "FeedForward"],
    ),
)
def test_distributed_over_time(name):
    case = CASES[name]
    first = case.inputs(0)[0]
    spread = keras.layers.TimeDistributed(make(name, seed=5))(np.stack([first, 2 * first], axis=1))
    alone = make(name, seed=5)(first)
    np.testing.assert_allclose(numpy(spread)[:, 0], numpy(alone), atol=1e-5)


def test_document_ids_and_a_mask_together():
    layer = make("MaskedTransformer", seed=5)
    hidden, documents = CASES["MaskedTransformer"].inputs(0)
    mask = np.ones_like(documents, bool)
    mask[:, -2:] = False
    both = numpy(layer(hidden, documents, mask=mask))
    one = numpy(layer(hidden, np.where(mask, documents, 0)))
    np.testing.assert_allclose(both, one, atol=1e-6)
