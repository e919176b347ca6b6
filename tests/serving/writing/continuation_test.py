"""What the graph writes equals what the generator of the same model writes, through the V1 loader too."""

import atexit
import dataclasses
import functools
import os
import shutil
import tempfile

import numpy as np
import pytest
import tensorflow as tf

from firth.recipes.generation.request import GenerationRequest
from firth.serving import Client, validate_serving
from firth.serving.isolated_check import Loaded, graph_ops
from firth.serving.saved_model import export
from firth.serving.served import Served
from firth.serving.writing.continuation import PARAMETERS, write_on
from firth.serving.writing.parameter import values_of
from tests.generation.cases import LENGTH, PROMPTS, WRITING, generator_of

DESCRIBED = {name: dataclasses.asdict(each) for name, each in PARAMETERS.items()}
# One of each reader; what is left repeats them.
CHOSEN = ("causal_lm", "prefix_lm", "denoising", "bidirectional_lm")
families = pytest.mark.parametrize(
    "name", [each if each in CHOSEN else pytest.param(each, marks=pytest.mark.repeated) for each in WRITING]
)
MANY = {"temperature": 0.9, "top_k": 9, "top_p": 0.95, "presence_penalty": 0.3}


def written(name, texts, **parameters):
    """What the function of the signature returns, by name."""
    generator = generator_of(name)
    served = Served(generator.model, generator.tokenizer, generator.recipe)
    values = values_of(DESCRIBED, parameters, len(texts))
    found = write_on(served, tf.constant(texts, tf.string), *map(tf.constant, values.values()))
    return {key: value.numpy() for key, value in found.items()}


@functools.cache
def exported():
    """A SavedModel of a causal model."""
    generator = generator_of("causal_lm")
    folder = tempfile.mkdtemp(prefix="firth-continuation-")
    atexit.register(shutil.rmtree, folder)
    directory = os.path.join(folder, "model")
    counts = np.ones(generator.tokenizer.vocabulary_size(), np.int64)
    export(generator.model, generator.tokenizer, generator.recipe, counts, directory)
    return directory


def texts_of(generated):
    return [each.text.encode() for each in generated]


@families
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


def test_a_long_text_keeps_its_end_and_leaves_room():
    long = "the fox jumps over the lazy dog " * 3
    found = written("causal_lm", [long, "", "the"], max_new_tokens=4)
    assert found["truncated"].tolist() == [True, False, False]
    # `[CLS]` and the last ten tokens leave room for three that are read, and one that is not.
    last = " ".join(long.split()[-(LENGTH - 4) :])
    assert found["generated"][0] == generator_of("causal_lm").generate(last, max_new_tokens=4).text.encode()


def test_an_encoder_reads_the_beginning_of_a_long_text():
    found = written("denoising", ["the fox jumps over the lazy dog " * 3], max_new_tokens=4)
    first = "the fox jumps over the lazy dog the fox jumps over the"
    assert found["truncated"].all()
    assert found["generated"][0] == generator_of("denoising").generate(first, max_new_tokens=4).text.encode()


def test_tf_servings_loader_answers_as_the_generator_does():
    """In the V1 session; and no op that TF Serving does not link."""
    model = Loaded(exported())
    prompts = [text.encode() for text in PROMPTS]
    expected = generator_of("causal_lm").generate(PROMPTS)
    assert model.run("generate", {"text": prompts})["generated"].tolist() == texts_of(expected)
    values = values_of(DESCRIBED, {**MANY, "max_new_tokens": 6, "seed": 3}, len(PROMPTS))
    inputs = {"text": prompts, **{key: each.tolist() for key, each in values.items()}}
    expected = generator_of("causal_lm").generate(PROMPTS, {**MANY, "max_new_tokens": 6, "seed": 3})
    answer = model.run("generate_with_parameters", inputs)
    assert answer["generated"].tolist() == texts_of(expected)
    assert [op for op in graph_ops(exported()) if op.startswith("Xla")] == []


@pytest.mark.repeated
def test_a_process_without_firth_answers_and_refuses_what_is_out_of_range():
    report = validate_serving(exported())
    assert report["reasons"] == []
    tried = {case["name"] for case in report["signatures"]["generate_with_parameters"]["cases"]}
    warmed = {name for name in tried if name.startswith("warm-up request")}
    assert tried - warmed == {"parameters", *(f"{name} out of range" for name in PARAMETERS)}
    assert len(warmed) == 2
    text = report["signatures"]["generate"]["inputs"]["text"]
    assert (text["dtype"], text["shape"]) == ("string", ["batch"])


def test_the_client_fills_in_what_is_not_said():
    client = Client(exported())
    seeds = {"temperature": 1.0, "seed": [4, 4, 5], "max_new_tokens": 8}
    answers = client.ask("generate", ["the fox"] * 3, parameters=seeds)
    one, same, other = (answer["generated"] for answer in answers)
    generator = generator_of("causal_lm")
    assert one == same == generator.generate("the fox", temperature=1.0, seed=4, max_new_tokens=8).text
    assert other == generator.generate("the fox", temperature=1.0, seed=5, max_new_tokens=8).text != one
    for wrong, message in [
        ({"top_p": 0.0}, r"top_p: must be above 0.0 and at most 1.0, not 0.0"),
        ({"seed": [1]}, r"seed: 1 values for 2 texts"),
        ({"top_k": 1.5}, r"top_k: must be a whole number, not 1.5"),
        ({"temprature": 1.0}, r"no parameter temprature; did you mean temperature\?"),
    ]:
        with pytest.raises(ValueError, match=message):
            client.ask("generate", ["a", "the"], parameters=wrong)
    with pytest.raises(ValueError, match="takes no parameters"):
        client.ask("score", ["a"], parameters={"seed": 1})
    with pytest.raises(ValueError, match="ask the signature generate, with values"):
        client.ask("generate_with_parameters", ["a"])
