"""CTranslate2 writes what the Keras model writes, by the same interface."""

import functools
import pathlib

import numpy as np
import pytest

from firth import storage
from firth.generation import load_generator
from firth.interop.ctranslate2.exporting import converted
from firth.interop.errors import InteropError
from tests.interop.ctranslate2 import exporting_test as models
from tests.repeating import often
from tests.training.eagerly import eagerly

pytest.importorskip("ctranslate2")

# `exporting_test` compares the logits of all families.
FAMILIES = often(["gpt2", "t5", "llama_3_1", "bart"], ["t5"])
PROMPTS = ["a b c d", "j i h g f e d c", "e"]
# All of one graph of the Keras model.
REQUESTS = (
    {"repetition_penalty": 2.0},
    {"stop": ["j", "h h", "e e"], "log_probabilities": True},
)


@pytest.fixture(autouse=True, scope="module")
def _without_graphs():
    """Short texts of small models take less time op by op than their graphs take to make."""
    with eagerly():
        yield


def bundle_of(name):
    return f"{models.exported(name)[1].name}/bundle"


@functools.cache
def keras_of(name):
    return load_generator(bundle_of(name))


@functools.cache
def engine_of(name):
    return load_generator(models.place(name), engine="ctranslate2")


def assert_same(found, expected):
    assert (found.text, found.ended) == (expected.text, expected.ended)
    # Where a stop has ended a text, one of both may have written more tokens after it.
    count = min(len(found.ids), len(expected.ids))
    assert found.ids[:count] == expected.ids[:count]
    for name in ("log_probabilities", "prompt_log_probabilities"):
        given, wanted = getattr(found, name), getattr(expected, name)
        assert (given is None) == (wanted is None)
        if given is not None:
            pairs = [pair for pair in zip(given, wanted) if None not in pair]
            np.testing.assert_allclose(*np.transpose(pairs), rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", FAMILIES)
def test_texts_are_those_of_the_keras_model(name):
    for values in REQUESTS:
        asked = {"max_new_tokens": 6, **values}
        expected, found = (each(name).generate(PROMPTS, asked) for each in (keras_of, engine_of))
        # Not all are stopped.
        assert any(len(each.ids) == 6 for each in expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)


@pytest.mark.parametrize("name", often(["gpt2", "t5", "bart"], ["gpt2"]))
def test_a_search_finds_the_texts_of_the_keras_model(name):
    penalty = 0.0 if name == "bart" else 1.0
    asked = {"max_new_tokens": 4, "beams": 3, "early_stopping": True, "length_penalty": penalty}
    prompts = PROMPTS[:2]
    for one, other in zip(*(each(name).generate(prompts, asked) for each in (engine_of, keras_of))):
        assert_same(one, other)


@pytest.mark.parametrize("values", [{"temperature": 0.0}, {"top_k": 1, "max_new_tokens": 1}])
def test_what_has_one_outcome_is_not_drawn(values):
    asked = {"max_new_tokens": 2, **values}
    for one, other in zip(*(each("gpt2").generate(PROMPTS, asked) for each in (engine_of, keras_of))):
        assert_same(one, other)


def test_how_probable_a_prompt_is():
    asked = {"max_new_tokens": 2, "prompt_log_probabilities": True}
    for one, other in zip(*(each("gpt2").generate(PROMPTS, asked) for each in (engine_of, keras_of))):
        assert_same(one, other)
    with pytest.raises(ValueError, match="prompt_log_probabilities: the model reads a prompt whole"):
        engine_of("t5").generate("a", asked)


@pytest.mark.parametrize("name", ["gpt2", pytest.param("bart", marks=pytest.mark.repeated)])
def test_a_text_comes_in_pieces(name):
    asked = {"max_new_tokens": 6, "log_probabilities": True, "repetition_penalty": 1.0}
    whole, most = engine_of(name).generate(PROMPTS[0], asked), 0
    # What is written before its reader comes is one piece.
    for _ in range(50):
        stream = engine_of(name).stream(PROMPTS[0], asked)
        pieces = list(stream)
        assert "".join(pieces) == stream.result.text and stream.result == whole
        if (most := max(most, len(pieces))) > 3:
            break
    assert most > 3


def test_a_stream_may_be_left():
    for _ in engine_of("gpt2").stream("a", max_new_tokens=9):
        break
    assert engine_of("gpt2").generate("a", max_new_tokens=2).text


def test_a_seed_gives_the_same_texts_again():
    asked = [{"temperature": 1.0, "max_new_tokens": 8, "seed": seed} for seed in (1, 1, 2, 2**40)]
    first, again, other, large = (engine_of("gpt2").generate(PROMPTS, each) for each in asked)
    assert first == again and first != other and other != large


REFUSED = {
    "typical_p": 0.5,
    "min_p": 0.1,
    "presence_penalty": 0.5,
    "frequency_penalty": 0.5,
    "logit_bias": {"a": 1.0},
    "constraint": {"kind": "regex", "pattern": "a+"},
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_runtime_lacks_is_refused_by_name(name):
    with pytest.raises(ValueError, match=f"{name}: the engine ctranslate2 has no such value"):
        engine_of("gpt2").generate("a", {name: REFUSED[name]})


SEARCHES = {
    "n_best": ("gpt2", {"beams": 2, "n_best": 2, "early_stopping": True}),
    "early_stopping": ("gpt2", {"beams": 2}),
    "length_penalty": ("bart", {"beams": 2, "early_stopping": True}),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_that_the_runtime_lacks_is_refused(name):
    family, values = SEARCHES[name]
    with pytest.raises(ValueError, match=f"{name}: the engine ctranslate2"):
        engine_of(family).generate("a", values)


def test_what_is_told_after_a_penalty_is_refused():
    asked = {"log_probabilities": True, "repetition_penalty": 2.0}
    with pytest.raises(ValueError, match="log_probabilities: next to an encoder"):
        engine_of("t5").generate("a", asked)


def test_a_model_is_converted_once(tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    made = converted(bundle_of("gpt2"), "int8", cache)
    assert converted(bundle_of("gpt2"), "int8", cache) == made != converted(bundle_of("gpt2"), None, cache)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    assert converted(bundle_of("llama")).startswith(f"{cache}/firth/ctranslate2/")
    pathlib.Path(made, "_SUCCESS").unlink()
    with pytest.raises(storage.NotWholeError):
        converted(bundle_of("gpt2"), "int8", cache)


@pytest.mark.parametrize("name", ["gpt2", pytest.param("llama_3_1", marks=pytest.mark.repeated)])
def test_bits_per_byte_of_rounded_weights(name, tmp_path):
    """Of a text, by the prompt's own probabilities."""
    text = "a b c d e f g h i j"
    asked = {"max_new_tokens": 1, "prompt_log_probabilities": True}
    small = load_generator(bundle_of(name), engine="ctranslate2", quantization="int8", cache=tmp_path)
    assert small.computes_in.startswith("int8")
    bits = [
        -sum(each.generate(text, asked).prompt_log_probabilities[1:]) / np.log(2) / len(text)
        for each in (keras_of(name), engine_of(name), small)
    ]
    assert abs(bits[1] - bits[0]) < 1e-4
    assert 0 < abs(bits[2] - bits[0]) < 0.05


@pytest.mark.parametrize("name", ["t5", pytest.param("bart", marks=pytest.mark.repeated)])
def test_bits_per_byte_of_targets_with_rounded_weights(name, tmp_path):
    """Of targets that are given, by what a decoder next to an encoder finds of them."""
    library = pytest.importorskip("ctranslate2")
    sources, targets = [list("abcd"), list("jihgfe")], [list("bcdefg"), list("ab")]
    size = sum(2 * len(each) - 1 for each in targets)
    bits = []
    for folder in (models.place(name), converted(bundle_of(name), "int8", tmp_path)):
        scored = library.Translator(folder).score_batch(sources, targets)
        bits.append(-sum(sum(each.log_probs) for each in scored) / np.log(2) / size)
    assert 0 < abs(bits[1] - bits[0]) < 0.05


def test_bad_input_is_refused(tmp_path):
    with pytest.raises(ValueError, match="engine: there is no 'ctranslate'; did you mean ctranslate2"):
        load_generator(bundle_of("gpt2"), engine="ctranslate")
    with pytest.raises(ValueError, match="dtype: the engine ctranslate2 has quantization in its place"):
        load_generator(bundle_of("gpt2"), "bfloat16", engine="ctranslate2")
    with pytest.raises(InteropError, match=r"quantization: the weights in .* have their type already"):
        load_generator(models.place("gpt2"), engine="ctranslate2", quantization="int8")
    with pytest.raises(InteropError, match="quantization: 'int7' is not one of int8"):
        load_generator(bundle_of("gpt2"), engine="ctranslate2", quantization="int7", cache=tmp_path)
    with pytest.raises(ValueError, match="masked_lm writes no text"):
        load_generator(models.place("bert"), engine="ctranslate2")
    with pytest.raises(ValueError, match="prompt 0: it is empty"):
        engine_of("gpt2").generate("")
