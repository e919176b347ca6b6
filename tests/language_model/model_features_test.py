"""A language model of features alone, which needs no TensorFlow where Keras runs on another backend."""

import importlib.util
import sys

import keras
import numpy as np
import pytest

import firth

OVERRIDES = {"tokenizer.vocabulary_size": 100, "sequences.length": 32, "model.layers": 1}


def features(with_labels: bool) -> dict[str, np.ndarray]:
    ids = np.random.default_rng(3).integers(5, 100, (4, 12)).astype("int32")
    ones = np.ones_like(ids)
    made = {
        "token_ids": ids,
        "segment_ids": 0 * ones,
        "position_ids": np.arange(12) * ones,
        "document_ids": ones,
    }
    if not with_labels:
        return made
    return {
        **made,
        "masked_positions": ones[:, :2],
        "masked_labels": ids[:, :2],
        "masked_weights": np.ones((4, 2), "float32"),
        "pooled_positions": 0 * ones[:, :1],
        "next_sentence_labels": ones[:, :1],
        "next_sentence_weights": np.ones((4, 1), "float32"),
    }


def test_it_is_made_trained_asked_adapted_and_saved(tmp_path):
    model = firth.create("bert_tiny", overrides=OVERRIDES)
    # A few steps take less than a trace.
    model.compile("adamw", jit_compile=False, run_eagerly=True)
    history = model.fit(features(True), epochs=3, batch_size=4, verbose=0).history
    assert history["loss"][-1] < history["loss"][0]
    model.save(tmp_path / "model.keras")
    again = firth.load(tmp_path / "model.keras")
    found = again.predict(features(False), verbose=0)["mlm"]
    assert found.shape == (4, 12, 100)
    kept = keras.ops.convert_to_numpy(model(features(False))["mlm"])
    np.testing.assert_allclose(found, kept, atol=1e-5)
    again.add_adapter("lora", rank=2)
    again.merge()
    for ask in (lambda: model.embed("a"), lambda: model.fit(["a text"]), lambda: model.generate("a")):
        with pytest.raises(ValueError, match="features alone"):
            ask()
    assert keras.backend.backend() == "tensorflow" or "tensorflow" not in sys.modules


GENERATED = {
    "tokenizer.vocabulary_size": 280,
    "model.layers": 1,
    "model.width": 16,
    "model.attention.heads": 2,
    "model.feed_forward.width": 16,
}


def likeliest(model, ids: list[int]) -> np.ndarray:
    """Returns the likeliest id after each of some ids, by one pass over all of them."""
    row = np.array([ids], "int32")
    features = {
        "token_ids": row,
        "position_ids": np.arange(len(ids))[None],
        "document_ids": np.ones_like(row),
    }
    return keras.ops.convert_to_numpy(model(features)["lm"])[0].argmax(axis=-1)


def test_ids_are_written_without_a_tokenizer():
    model = firth.create("gpt2_tiny", overrides={**GENERATED, "model.initializer_stddev": 0.5})
    prompts = [[5, 6, 7], [9, 30, 2, 8, 41, 3, 77, 5, 6, 12], [8]]
    written = model.generate_ids(prompts, max_new_tokens=4)
    for prompt, found in zip(prompts, written, strict=True):
        assert likeliest(model, prompt + found)[len(prompt) - 1 : -1].tolist() == found
    # The weights are read at each call.
    table = next(each for each in model.weights if each.shape == (280, 16))
    kept = keras.ops.convert_to_numpy(table)
    table.assign(kept[::-1])
    assert model.generate_ids(prompts, max_new_tokens=4) != written
    table.assign(kept)
    # An end ends a row and no other, and min_new_tokens keeps it off.
    end = written[1][2]
    ended = model.generate_ids(prompts, end_id=end, max_new_tokens=4)
    assert ended == [each[: each.index(end) + 1] if end in each else each for each in written]
    held = model.generate_ids(prompts, end_id=end, max_new_tokens=4, min_new_tokens=4)
    assert all(end not in each[:3] for each in held)
    penalised = model.generate_ids(prompts, frequency_penalty=1e4, repetition_penalty=1e4, max_new_tokens=4)
    assert all(len({*prompt, *each}) == len({*prompt}) + 4 for prompt, each in zip(prompts, penalised))
    drawn = {"temperature": 2.0, "top_k": 50, "top_p": 0.9, "min_p": 0.01, "seed": 4, "max_new_tokens": 4}
    assert model.generate_ids(prompts, **drawn) == model.generate_ids(prompts, **drawn)
    # A row's draws are not those of its batch.
    assert model.generate_ids(prompts[:1], **drawn) == model.generate_ids(prompts, **drawn)[:1]
    assert model.generate_ids(prompts, **{**drawn, "seed": 5}) != model.generate_ids(prompts, **drawn)
    assert model.generate_ids(prompts, **{**drawn, "top_k": 1}) == written
    for values, named in (
        ({"beams": 2}, "beam"),
        ({"choices": ["a"]}, "choices|constraint"),
        ({"stop": "."}, "stop"),
        ({"end_id": 280}, "end_id: 280"),
        ({"start_ids": np.array([0])}, "start_ids: a model of one stack"),
    ):
        with pytest.raises(ValueError, match=named):
            model.generate_ids([[5]], **values)
    for prompt, named in (([280], "280"), ([], "not a list"), ([1] * 10_000, "10,000")):
        with pytest.raises(ValueError, match=f"prompt 1: .*{named}"):
            model.generate_ids([[5], prompt])
    assert keras.backend.backend() == "tensorflow" or "tensorflow" not in sys.modules


def test_ids_are_written_next_to_an_encoder():
    model = firth.create("t5_tiny", overrides=GENERATED)
    generator = np.random.default_rng(5)
    for weight in model.trainable_variables:
        weight.assign(generator.normal(0, 0.4, weight.shape).astype("float32"))
    prompts = [[5, 6, 7], [9, 30, 2, 8]]
    written = model.generate_ids(prompts, start_ids=np.array([0]), max_new_tokens=5)
    for prompt, found in zip(prompts, written, strict=True):
        read, ones = np.array([prompt], "int32"), np.ones((1, len(prompt)), "int32")
        given = np.array([[0, *found]], "int32")
        features = {
            "token_ids": read,
            "position_ids": np.arange(len(prompt))[None],
            "document_ids": ones,
            "decoder_token_ids": given,
            "decoder_position_ids": np.arange(given.shape[1])[None],
            "decoder_document_ids": np.ones_like(given),
        }
        logits = keras.ops.convert_to_numpy(model(features)["lm"])
        assert logits[0].argmax(axis=-1)[:-1].tolist() == found
    with pytest.raises(ValueError, match="start_ids"):
        model.generate_ids(prompts)
    with pytest.raises(ValueError, match="writes no text"):
        firth.create("bert_tiny", overrides=OVERRIDES).generate_ids(prompts)


@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is not None, reason="TensorFlow is installed")
def test_what_reads_texts_says_that_it_needs_tensorflow(tmp_path):
    model = firth.create("bert_tiny", overrides=OVERRIDES)
    for ask in (
        lambda: firth.load(tmp_path),
        lambda: firth.pretrain("bert_tiny", texts=["a"]),
        lambda: firth.create("bert_tiny", tokenizer=tmp_path),
        lambda: model.finetune([{"text": "a", "label": "b"}]),
    ):
        with pytest.raises(ImportError, match=r"needs TensorFlow.*firth\.create"):
            ask()
