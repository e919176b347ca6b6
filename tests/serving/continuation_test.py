"""The graph writes the texts of the same model's generator, through the V1 loader too."""

import contextlib
import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from firth.recipes.generation.request import GenerationRequest
from firth.serving import Client
from firth.serving.continuation import PARAMETERS, write_on
from firth.serving.isolated_check import graph_ops
from firth.serving.model_client import ModelClient
from firth.serving.parameter import values_of
from firth.serving.served_model import Served
from tests.generation.cases import LENGTH, PROMPTS, eagerly, generator_of
from tests.repeating import often
from tests.serving.slots.models import batcher_of, exported, generator_of_exported, served_by

DESCRIBED = {name: dataclasses.asdict(each) for name, each in PARAMETERS.items()}
MANY = {"temperature": 0.9, "top_k": 9, "top_p": 0.95, "presence_penalty": 0.3}


def written(name, texts, **parameters):
    """Returns the outputs of the signature's function, by name."""
    generator = generator_of(name)
    served = Served(generator.model, generator.tokenizer, generator.recipe)
    values = values_of(DESCRIBED, parameters, len(texts))
    found = write_on(served, tf.constant(texts, tf.string), *map(tf.constant, values.values()))
    return {key: value.numpy() for key, value in found.items()}


def texts_of(generated):
    return [each.text.encode() for each in generated]


@pytest.mark.parametrize(
    "name",
    often(
        ["causal_lm", "prefix_lm", "span_corruption", "bidirectional_lm"], ["causal_lm", "bidirectional_lm"]
    ),
)
@eagerly()
def test_the_graph_writes_what_the_generator_writes(name):
    """The likeliest tokens in one row, and drawn ones in the others."""
    asked = [{**MANY, "max_new_tokens": 5, "seed": seed, "temperature": seed / 8} for seed in (0, 7, 9)]
    found = written(name, PROMPTS, **{key: [each[key] for each in asked] for key in asked[0]})
    requests = [GenerationRequest.with_values({**each, "log_probabilities": True}) for each in asked]
    expected = generator_of(name).generate(PROMPTS, requests)
    assert found["generated"].tolist() == texts_of(expected)
    assert found["is_finished"].tolist() == [each.ended == "end" for each in expected]
    sums = [sum(each.log_probabilities) for each in expected]
    np.testing.assert_allclose(found["log_probability"], sums, atol=1e-4)
    assert not found["truncated"].any()


@eagerly()
def test_a_long_text_keeps_its_end_and_leaves_room():
    long = "the fox jumps over the lazy dog " * 3
    found = written("causal_lm", [long, "", "the"], max_new_tokens=4)
    assert found["truncated"].tolist() == [True, False, False]
    # `[CLS]` and the last ten tokens leave room for three that are read, and one that is not.
    last = " ".join(long.split()[-(LENGTH - 4) :])
    assert found["generated"][0] == generator_of("causal_lm").generate(last, max_new_tokens=4).text.encode()


@eagerly()
def test_an_encoder_reads_the_beginning_of_a_long_text():
    found = written("denoising", ["the fox jumps over the lazy dog " * 3], max_new_tokens=4)
    first = "the fox jumps over the lazy dog the fox jumps over the"
    assert found["truncated"].all()
    assert found["generated"][0] == generator_of("denoising").generate(first, max_new_tokens=4).text.encode()


def test_tf_servings_loader_answers_as_the_generator_does(made_once):
    """In the V1 session; and no op that TF Serving does not link."""
    model = batcher_of(made_once).loaded
    with eagerly():
        expected = generator_of_exported().generate(PROMPTS)
    answer = model.run("generate", {"text": [text.encode() for text in PROMPTS]})
    assert answer["generated"].tolist() == texts_of(expected)
    assert [op for op in graph_ops(exported(made_once)) if op.startswith("Xla")] == []


@pytest.mark.parametrize("is_exported", [pytest.param(True, marks=pytest.mark.repeated), False])
def test_the_client_fills_in_what_is_not_said(made_once, is_exported):
    client = Client(exported(made_once)) if is_exported else ModelClient(served_by(generator_of_exported()))
    asked = {**MANY, "seed": [4, 4, 5], "max_new_tokens": 6}
    # An exported model has its graphs.
    with contextlib.nullcontext() if is_exported else eagerly():
        answers = client.ask("generate", ["the fox"] * 3, parameters=asked)
    requests = [GenerationRequest.with_values({**asked, "seed": seed}) for seed in asked["seed"]]
    with eagerly():
        expected = generator_of_exported().generate(["the fox"] * 3, requests)
    one, same, other = (answer["generated"] for answer in answers)
    assert [one, same, other] == [each.text for each in expected]
    assert one == same != other
    for wrong, named in [
        ({"top_p": 0.0}, r"top_p: .*not 0.0"),
        ({"seed": [1]}, r"seed: 1 .*2 texts"),
        ({"top_k": 1.5}, r"top_k: .*1.5"),
        ({"temprature": 1.0}, r"temprature.* temperature"),
    ]:
        with pytest.raises(ValueError, match=named):
            client.ask("generate", ["a", "the"], parameters=wrong)
    with pytest.raises(ValueError, match="no parameters"):
        client.ask("score", ["a"], parameters={"seed": 1})
    with pytest.raises(ValueError, match="signature generate,"):
        client.ask("generate_with_parameters", ["a"])
