"""Properties of the backbones that are made of transformer blocks."""

import functools

import keras
import numpy as np
import pytest

from firth import features as names
from firth.models import build_backbone
from tests.backends.gradients import compiled, compiled_where_it_pays, gradients
from tests.models.table import (
    BATCH,
    DECODERS,
    DOCUMENTS,
    ENCODER_DECODERS,
    LENGTH,
    MODELS,
    TARGET_LENGTH,
    TARGETS,
    VOCABULARY,
    make_features,
    visible,
)
from tests.repeating import often

# One model for each kind of layer: JAX compiles each operation for each shape, and takes no others.
ON_JAX = ("albert", "deberta", "llama", "prefix lm", "shared t5", "bart")
# And one for each kind of positions and masks. The others are of the same layers with other numbers.
CHOSEN = (*ON_JAX, "gpt2", "unilm", "transformer")
IS_JAX = keras.backend.backend() == "jax"


def chosen(models) -> list:
    if IS_JAX:
        return [name for name in models if name in ON_JAX]
    return [name for name in models if name in CHOSEN]


# Layers, masks and stacks of others here and below; golden states have their kinds too.
AS_OTHERS = ("gpt2", "transformer", "albert", "shared t5", "prefix lm", "unilm")
models = pytest.mark.parametrize("name", often(chosen(MODELS), {*chosen(MODELS)} - {*AS_OTHERS}))
# One for each mask.
every_model = pytest.mark.parametrize(
    "name",
    often(
        chosen(MODELS) if IS_JAX else MODELS,
        ["deberta", "unilm", "llama", "prefix lm", "bart"],
        is_shared=IS_JAX,
    ),
)
decoders = pytest.mark.parametrize("name", often(chosen(DECODERS), ["llama", "prefix lm"]))
encoder_decoders = pytest.mark.parametrize("name", often(chosen(ENCODER_DECODERS), ["bart"]))


# One of each kind of stack has two layers, that none reads or keeps what is another's.
TWO_LAYERS = ("albert", "gpt2", "llama", "bart")


def shape_of(name):
    several = name in TWO_LAYERS or name not in CHOSEN
    return MODELS[name] if several else MODELS[name].model_copy(update={"layers": 1})


def build(name, **arguments):
    return build_backbone(shape_of(name), VOCABULARY, **{"seed": 1, **arguments})


def numpy(tensor) -> np.ndarray:
    return keras.ops.convert_to_numpy(keras.ops.cast(tensor, "float32"))


@functools.cache
def built(name):
    """A backbone for tests that leave its weights as they are."""
    return build(name)


@functools.cache
def function_of(name):
    """The same, compiled, from features to NumPy."""
    function = compiled(lambda features: built(name)(features))
    return lambda features: numpy(function(features))


@functools.cache
def states_of(name) -> np.ndarray:
    """The outputs for `make_features(name)`."""
    return function_of(name)(make_features(name))


def by_path(backbone) -> dict:
    return {weight.path.split("/", 1)[1]: weight for weight in backbone.trainable_variables}


def tokens_of(name) -> str:
    """The feature that the outputs of a model stand next to."""
    return names.DECODER_TOKEN_IDS if name in ENCODER_DECODERS else names.TOKEN_IDS


def documents_of(features) -> list[dict[str, np.ndarray]]:
    """Cuts the documents out of the rows."""
    cut = []
    for number in range(len(DOCUMENTS)):
        places = {}
        for is_decoder, lengths in ((False, DOCUMENTS), (True, TARGETS)):
            start = sum(lengths[:number])
            places[is_decoder] = slice(start, start + lengths[number])
        cut.append({key: value[:, places[key.startswith("decoder_")]] for key, value in features.items()})
    return cut


@models
def test_config_round_trip(name):
    first = built(name)
    second = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(first))
    assert second.get_config() == first.get_config()
    second.build()
    for one, two in zip(first.get_weights(), second.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)


def test_a_config_keeps_the_precision():
    config = keras.saving.serialize_keras_object(build("albert", dtype="mixed_bfloat16"))
    assert keras.saving.deserialize_keras_object(config).dtype_policy.name == "mixed_bfloat16"


# An encoder, a decoder, and two stacks that share weights: Keras saves the other models alike.
@pytest.mark.parametrize("name", often(["deberta", "llama", "shared t5"], ["deberta", "shared t5"]))
def test_save_and_load(name, tmp_path):
    built(name).save(tmp_path / "backbone.keras")
    loaded = keras.saving.load_model(tmp_path / "backbone.keras")
    for path, value in by_path(loaded).items():
        np.testing.assert_array_equal(numpy(value), numpy(by_path(built(name))[path]))


@every_model
def test_counts_equal_those_from_the_types(name):
    counts = shape_of(name).parameter_counts(VOCABULARY)
    assert built(name).count_params() == sum(counts.values())


@models
def test_shapes_dtypes_and_precision(name):
    features = make_features(name)
    exact, mixed = built(name)(features), build(name, dtype="mixed_bfloat16")(features)
    length = TARGET_LENGTH if name in ENCODER_DECODERS else LENGTH
    assert tuple(exact.shape) == tuple(mixed.shape) == (BATCH, length, MODELS[name].width)
    assert keras.backend.standardize_dtype(exact.dtype) == "float32"
    assert keras.backend.standardize_dtype(mixed.dtype) == "bfloat16"
    assert np.isfinite(numpy(exact)).all()
    np.testing.assert_allclose(states_of(name), numpy(exact), rtol=1e-5, atol=1e-5 * numpy(exact).max())
    # One rounding in 256 a step; states of post-norm models are about 1, those of others larger.
    spread = numpy(exact).std()
    np.testing.assert_allclose(numpy(mixed) / spread, numpy(exact) / spread, atol=0.15)


@models
def test_every_weight_gets_a_gradient(name):
    backbone, features = built(name), make_features(name)
    direction = np.random.default_rng(1).normal(size=states_of(name).shape)
    found = gradients(backbone, lambda: keras.ops.sum(keras.ops.multiply(backbone(features), direction)))
    assert len(found) == len(backbone.trainable_variables)
    for path, value in found.items():
        assert value is not None and np.isfinite(value).all() and np.abs(value).max() > 0, path


@models
def test_alone_equals_packed(name):
    """Neither the other documents of a row nor padding reach a document."""
    together = states_of(name)
    places = documents_of({tokens_of(name): np.arange(together.shape[1])[None]})
    for document, place in zip(documents_of(make_features(name)), places):
        expected = together[:, place[tokens_of(name)][0]]
        alone = numpy(built(name)(document))
        np.testing.assert_allclose(alone, expected, atol=1e-5 * np.abs(expected).max())


@every_model
def test_who_sees_whom(name):
    """A token's change reaches those outputs that may see it, and no other."""
    function, features, key = function_of(name), make_features(name), tokens_of(name)
    before, expected = states_of(name), visible(name)
    for place in range(before.shape[1]):
        changed = features[key].copy()
        changed[:, place] = changed[:, place] % (VOCABULARY - 1) + 1
        differs = np.abs(function({**features, key: changed}) - before).max(-1)
        assert (differs > 1e-5)[:, expected[:, place]].all(), place
        assert (differs == 0.0)[:, ~expected[:, place]].all(), place


@encoder_decoders
def test_a_decoder_sees_its_document_in_the_encoder(name):
    function, features, before = function_of(name), make_features(name), states_of(name)
    for place in range(LENGTH):
        changed = features[names.TOKEN_IDS].copy()
        changed[:, place] = changed[:, place] % (VOCABULARY - 1) + 1
        differs = np.abs(function({**features, names.TOKEN_IDS: changed}) - before).max(-1)
        reached = features[names.DECODER_DOCUMENT_IDS] == features[names.DOCUMENT_IDS][:, place, None]
        assert (differs > 1e-5)[reached].all() and (differs == 0.0)[~reached].all(), place


def steps_of(backbone) -> dict:
    """Returns functions that read tokens into a cache: one at a time, which is compiled, or several."""
    call = lambda *arguments: backbone.call_with_cache(*arguments)  # noqa: E731
    return {True: compiled(call), False: compiled_where_it_pays(call)}


@decoders
def test_cached_decoding_equals_a_whole_pass(name):
    backbone, features = built(name), make_features(name)
    if MODELS[name].bidirectional_prefix:
        # All of a prefix is read at once.
        del features[names.ATTENTION_ORDER]
    whole = {names.DOCUMENT_IDS, names.ATTENTION_ORDER}
    cache, found, index = backbone.empty_cache(features), [], 0
    step = steps_of(backbone)
    for count in (5, 1, 1, 4, 1):
        part = {
            key: value if key in whole else value[:, index : index + count] for key, value in features.items()
        }
        states, cache = step[count == 1](part, cache, keras.ops.convert_to_tensor(index, dtype="int32"))
        found.append(numpy(states))
        index += count
    expected = function_of(name)(features)
    np.testing.assert_allclose(
        np.concatenate(found, axis=1), expected, atol=1e-5 * np.abs(expected).max(), rtol=1e-5
    )


@encoder_decoders
def test_cached_decoding_next_to_an_encoder_equals_a_whole_pass(name):
    backbone, features = built(name), make_features(name)
    cache, found, index = backbone.empty_cache(features), [], 0
    # The encoder has been read, and its keys and values are known: nothing reads its tokens again.
    del features[names.TOKEN_IDS], features[names.POSITION_IDS]
    read = (names.DECODER_TOKEN_IDS, names.DECODER_POSITION_IDS)
    step = steps_of(backbone)
    for count in (4, 1, 1, 3, 1):
        part = {**features, **{key: features[key][:, index : index + count] for key in read}}
        before = cache
        states, cache = step[count == 1](part, cache, keras.ops.convert_to_tensor(index, dtype="int32"))
        for old, new in zip(before, cache, strict=True):
            np.testing.assert_array_equal(numpy(old[1]), numpy(new[1]))
        found.append(numpy(states))
        index += count
    assert index == TARGET_LENGTH
    expected = states_of(name)
    np.testing.assert_allclose(
        np.concatenate(found, axis=1), expected, atol=1e-5 * np.abs(expected).max(), rtol=1e-5
    )


def test_a_prefix_is_read_at_once_into_a_cache():
    backbone, features = built("prefix lm"), make_features("prefix lm")
    features = documents_of(features)[0]
    expected, cache = numpy(backbone(features)), backbone.empty_cache(features)
    for place in (slice(0, 3), slice(3, 4), slice(4, 7)):
        part = {**features, names.TOKEN_IDS: features[names.TOKEN_IDS][:, place]}
        part[names.POSITION_IDS] = features[names.POSITION_IDS][:, place]
        states, cache = backbone.call_with_cache(part, cache, place.start)
        np.testing.assert_allclose(numpy(states), expected[:, place], atol=1e-5 * np.abs(expected).max())


def test_shared_layers_equal_layers_of_the_same_weights():
    shared = built("albert")
    apart = build_backbone(MODELS["albert"].model_copy(update={"share_layers": None}), VOCABULARY)
    weights = by_path(shared)
    assert {path for path in weights if "block_" in path} == {
        path for path in weights if "encoder/block_0/" in path
    }
    for path, weight in by_path(apart).items():
        weight.assign(weights[path.replace("block_1", "block_0")])
    features = make_features("albert")
    np.testing.assert_allclose(numpy(shared(features)), numpy(apart(features)), atol=1e-5)


def test_a_shared_encoder_and_decoder_equal_two_of_the_same_weights():
    model = MODELS["bart"].model_copy(update={"share_encoder_decoder": True})
    shared, apart = (build_backbone(each, VOCABULARY, seed=1) for each in (model, MODELS["bart"]))
    weights = by_path(shared)
    assert not [path for path in weights if path.startswith("encoder")]
    for path, weight in by_path(apart).items():
        weight.assign(weights[path.replace("encoder", "decoder", 1)])
    features = make_features("bart")
    np.testing.assert_allclose(numpy(shared(features)), numpy(apart(features)), atol=1e-5)


def test_scaled_residual_initializer():
    kernels = {path: weight.numpy() for path, weight in by_path(built("gpt2")).items() if "kernel" in path}
    for path, kernel in kernels.items():
        ends_a_branch = "output" in path or "outer" in path
        # A normal cut at two standard deviations has 0.88 of its width left; two layers have four branches.
        expected = 0.88 * 0.3 / (2.0 if ends_a_branch else 1.0)
        assert kernel.std() == pytest.approx(expected, rel=0.2), path


@pytest.mark.parametrize("name", often(["deberta", "llama", "shared t5"], ["deberta", "shared t5"]))
def test_dropout_follows_from_the_seed_state(name):
    backbone, features = built(name), make_features(name)
    state = backbone.seed_generator.state
    assert [id(value) for value in backbone.variables if not value.trainable] == [id(state)]
    start = keras.ops.convert_to_numpy(state.value)
    first, second = (numpy(backbone(features, training=True)) for _ in range(2))
    state.assign(start)
    np.testing.assert_array_equal(numpy(backbone(features, training=True)), first)
    assert not np.array_equal(first, second)
