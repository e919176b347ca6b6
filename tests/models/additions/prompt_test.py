"""Prefixes and prompts on every family of transformers: who reads them, with a cache, and what is kept."""

import functools
import itertools

import keras
import numpy as np
import pytest

from firth import features as names
from firth.layers.attention import softmax_attention
from firth.models import PretrainingModel
from firth.models.additions.addition_kinds import ADDITIONS, extend_model, replace_training_additions
from firth.models.additions.addition_places import TuningError
from firth.models.additions.multitask_prompt import MultitaskPrompt
from firth.models.bundle import weights_by_path
from firth.recipes.models.blocks import AttentionConfig
from firth.recipes.models.positions import RotaryPositionsConfig
from firth.recipes.models.transformers import CausalTransformerConfig
from firth.recipes.tuning import prompts
from tests.models.backbones.backbone_test import IS_JAX, documents_of, numpy, tokens_of
from tests.models.table import DECODERS, MODELS, OTHERS, TRAINED, VOCABULARY, make_features
from tests.repeating import often

PREFIXES = {
    "prefix_tuning": prompts.PrefixTuning(length=3, hidden=5),
    "p_tuning_v2": prompts.PTuningV2(length=3),
}
PROMPTS = {
    "prompt_tuning": prompts.PromptTuning(length=3),
    "p_tuning": prompts.PTuning(length=3, hidden=5),
}
METHODS = {**PREFIXES, **PROMPTS, "p_tuning, mlp": prompts.PTuning(length=3, encoder="mlp")}
# Shared layers and a factorised table, rotary positions and shared heads, buckets on two sides, one stack for
# both sides, learned positions next to an encoder; and an order.
CASES = ("albert", "llama", "t5", "shared t5", "bart", "prefix lm")
CHOSEN = ("llama", "t5")
# Buckets of one side know no virtual token.
WITH_PROMPT = [case for case in CASES if case != "prefix lm"]
OBJECTIVES = dict(TRAINED.values())


def over(cases, methods, few=CHOSEN):
    """Each method on the first of the cases that are chosen, and on each other case one method in turn.

    Cases that are not among the few are tried by the repeated tests.
    """
    first = next(case for case in CHOSEN if case in cases)
    others = [case for case in cases if case != first and (case in CHOSEN or not IS_JAX)]
    pairs = [*((first, method) for method in methods), *zip(others, itertools.cycle(methods))]
    return pytest.mark.parametrize("case, method", often(pairs, [pair for pair in pairs if pair[0] in few]))


def model_of(case, method=None, dtype=None, layers=1):
    shape = {**MODELS, **OTHERS}[case].model_copy(update={"layers": layers})
    kinds = {"encoder_decoder": "t5", "decoder": "gpt2", "encoder": "bert"}
    objective = OBJECTIVES.get(case) or OBJECTIVES[kinds[shape.architecture]]
    model = PretrainingModel(shape, objective, VOCABULARY, seed=1, dtype=dtype, name="model")
    model.build()
    if method is not None:
        extend_model(model, METHODS.get(method, method))
    return model


@functools.cache
def held(case, method, layers=1):
    """A model for tests that leave its weights as they are."""
    return model_of(case, method, layers=layers)


def alone(case, number=0) -> dict[str, np.ndarray]:
    """Rows of one document."""
    found = documents_of(make_features(case))[number]
    return {key: value - number if key.endswith("document_ids") else value for key, value in found.items()}


def states(model, features) -> np.ndarray:
    return numpy(model.backbone(features))


def close(found, expected):
    np.testing.assert_allclose(found, expected, atol=2e-5 * np.abs(expected).max())


@over(CASES, PREFIXES, few=("albert", "llama", "t5", "prefix lm"))
def test_each_document_of_a_row_reads_the_prefix_as_it_does_alone(case, method):
    # Two layers, each of which has a prefix of its own.
    model = held(case, method, layers=2 if case in CHOSEN else 1)
    together = states(model, make_features(case))
    places = documents_of({tokens_of(case): np.arange(together.shape[1])[None]})
    for number, place in enumerate(places):
        close(states(model, alone(case, number)), together[:, place[tokens_of(case)][0]])


@over(CASES, PREFIXES, few=("llama",))
def test_a_prefix_of_zeros_is_attended_to(case, method):
    model, features = model_of(case), make_features(case)
    before = states(model, features)
    extend_model(model, METHODS[method])
    for weight in model.added.weights:
        weight.assign(0 * weight)
    assert np.abs(states(model, features) - before).max() > 0.01 * np.abs(before).max()


@over(WITH_PROMPT, PROMPTS, few=("llama",))
def test_a_prompt_is_read_and_its_states_are_left_out(case, method):
    model, features = model_of(case), alone(case)
    before = states(model, features)
    extend_model(model, METHODS[method])
    found = states(model, features)
    assert found.shape == before.shape
    assert np.abs(found - before).max() > 0.01 * np.abs(before).max()


@over(WITH_PROMPT, PROMPTS, few=("llama",))
def test_padding_after_a_text_changes_nothing(case, method):
    model, features = held(case, method), alone(case)
    padded = {key: np.pad(value, ((0, 0), (0, 2))) for key, value in features.items()}
    expected = states(model, features)
    close(states(model, padded)[:, : expected.shape[1]], expected)


# What a cache reads, whichever network has made it.
MADE = ("p_tuning_v2", "p_tuning")


@over([case for case in CASES if case in DECODERS], MADE)
def test_cached_decoding_equals_a_whole_pass(case, method):
    model, features = held(case, method, layers=2), alone(case)
    whole = {names.DOCUMENT_IDS, names.ATTENTION_ORDER}
    cache, found, index = model.backbone.empty_cache(features), [], 0
    for count in (4, 1, 2):
        part = {
            key: value if key in whole else value[:, index : index + count] for key, value in features.items()
        }
        part_states, cache = model.backbone.call_with_cache(part, cache, keras.ops.convert_to_tensor(index))
        found.append(numpy(part_states))
        index += count
    close(np.concatenate(found, axis=1), states(model, features))


@over(("t5", "shared t5", "bart"), MADE)
def test_cached_decoding_next_to_an_encoder_equals_a_whole_pass(case, method):
    model, features = held(case, method, layers=2 if case in CHOSEN else 1), alone(case)
    cache, found, index = model.backbone.empty_cache(features), [], 0
    read = (names.DECODER_TOKEN_IDS, names.DECODER_POSITION_IDS)
    for count in (1, 2):
        part = {**features, **{key: features[key][:, index : index + count] for key in read}}
        part_states, cache = model.backbone.call_with_cache(part, cache, keras.ops.convert_to_tensor(index))
        found.append(numpy(part_states))
        index += count
    close(np.concatenate(found, axis=1), states(model, features))


@pytest.mark.parametrize("method", ["prompt_tuning", "p_tuning_v2"])
def test_states_at_some_places_are_those_of_all(method):
    model, features = held("albert", method), alone("albert")
    wanted = np.array([[0, 6], [3, 1], [5, 5]], "int32")
    expected = np.take_along_axis(states(model, features), wanted[:, :, None], axis=1)
    close(numpy(model.backbone.states_at(features, wanted)), expected)


@over(CHOSEN, ["prefix_tuning", "p_tuning", "p_tuning, mlp"], few=("llama",))
def test_what_a_network_makes_is_kept_and_the_network_is_dropped(case, method):
    method = METHODS[method]
    model, features = model_of(case, method), alone(case)
    expected, before = states(model, features), model.added.held[:]
    replace_training_additions(model, method)
    close(states(model, features), expected)
    assert set(weights_by_path(model)) == set(weights_by_path(held(case, method.kept)))
    assert numbers_of(model.added.held) < numbers_of(before)


def numbers_of(additions) -> int:
    return sum(each.count_params() for each in additions)


def test_layers_that_share_weights_share_their_prefix():
    prefixes = model_of("albert", "p_tuning_v2", layers=2).added.weights
    assert [each.path for each in prefixes] == [
        "model/added/encoder/block_0/attention/keys_values/p_tuning_v2/keys_values"
    ]


def test_the_encoder_has_a_prefix_if_it_is_asked_for():
    for encoder, count in ((True, 4), (False, 2)):
        model = model_of("t5", prompts.PTuningV2(length=3, encoder=encoder), layers=2)
        assert len(model.added.held) == count
        assert ("encoder/block_0" in str([each.path for each in model.added.weights])) is encoder


def test_long_causal_rows_are_read_in_blocks_of_queries(monkeypatch):
    """The keys of each block begin with the prefix, also where blocks of packed rows would be chosen."""
    shape = CausalTransformerConfig(
        layers=1,
        width=8,
        attention=AttentionConfig(heads=2),
        positions=RotaryPositionsConfig(),
        initializer_stddev=0.3,
    )
    model = PretrainingModel(shape, OBJECTIVES["gpt2"], VOCABULARY, seed=1, name="model")
    model.build()
    extend_model(model, METHODS["p_tuning_v2"])
    ids = np.random.default_rng(0).integers(1, VOCABULARY, (1, 512))
    features = {names.TOKEN_IDS: ids, names.POSITION_IDS: np.arange(512)[None], names.DOCUMENT_IDS: ids > 0}
    features = {key: value.astype("int32") for key, value in features.items()}
    found = states(model, features)
    monkeypatch.setattr(softmax_attention, "CAUSAL_BLOCK", 1024)
    close(found, states(model, features))


@pytest.mark.parametrize("case", ["xlnet", "elmo"])
@pytest.mark.parametrize("method", ["p_tuning_v2", "prompt_tuning"])
def test_other_backbones_are_refused(case, method):
    model = PretrainingModel(OTHERS[case], OBJECTIVES[case], VOCABULARY, seed=1)
    model.build()
    with pytest.raises(TuningError, match=rf"method\.kind: {method} "):
        ADDITIONS[method](model, METHODS[method])


def test_attention_without_a_place_for_a_prefix_is_refused():
    with pytest.raises(TuningError, match=r"disentangled .*prompt_tuning and p_tuning"):
        model_of("deberta", "p_tuning_v2")
    assert model_of("deberta", "prompt_tuning").added.held


def test_a_decoder_that_writes_after_padding_with_buckets_takes_no_prompt():
    with pytest.raises(TuningError, match="writes after padding"):
        model_of("prefix lm", "prompt_tuning")


def test_mixed_precision_reads_a_prompt_and_a_prefix():
    for method in ("p_tuning_v2", "prefix_tuning", "p_tuning"):
        model = model_of("llama", method, "mixed_bfloat16")
        assert keras.backend.standardize_dtype(model.backbone(alone("llama")).dtype) == "bfloat16"
        assert {each.dtype for each in model.added.weights} == {"float32"}


@pytest.mark.parametrize("method", ["p_tuning_v2", "prompt_tuning"])
def test_padding_before_a_text_that_is_read_into_a_cache_changes_nothing(method):
    """As when texts of several lengths are gone on with."""
    model, features = held("llama", method), alone("llama")
    expected = states(model, features)
    padded = {key: np.pad(value, ((0, 0), (2, 0))) for key, value in features.items()}
    found, _ = model.backbone.call_with_cache(padded, model.backbone.empty_cache(padded), 0)
    close(numpy(found)[:, 2:], expected)


def test_a_row_without_a_task_has_the_mean_of_the_tasks_products():
    """(u, v) and (-u, -v) are one product, which each row has, though the mean of their factors is zero."""
    prompt = MultitaskPrompt(length=3, width=4, tasks=2, rank=1, seed=1)
    prompt.build()
    for weight in (prompt.columns, prompt.rows):
        first = numpy(weight)[0]
        weight.assign(np.stack([first, -first]))
    of_task = numpy(prompt({names.TASK_IDS: np.array([[1]])}))
    assert np.abs(of_task).max() > 0
    np.testing.assert_allclose(numpy(prompt({})), of_task, rtol=1e-6)


@pytest.mark.parametrize("method", ["prefix_tuning", "p_tuning"])
def test_what_is_kept_is_what_was_trained_under_mixed_precision_bit_for_bit(method):
    model = model_of("llama", method, "mixed_bfloat16")
    expected = numpy(keras.ops.cast(model.backbone(alone("llama")), "float32"))
    replace_training_additions(model, METHODS[method])
    found = numpy(keras.ops.cast(model.backbone(alone("llama")), "float32"))
    np.testing.assert_array_equal(found, expected)
