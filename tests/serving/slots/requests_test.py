"""Requests that try slots, and what a warm-up leaves of them."""

import os
import re

import pytest
import tensorflow as tf

from firth.serving import ContinuousBatcher, validate_serving
from firth.serving.continuation import PARAMETERS
from firth.serving.slots.requests import slot_requests
from firth.serving.validation import TEXT_CASES
from firth.serving.warmup import read_warmup
from tests.serving.slots.models import batcher_of, exported, generator_of_exported

OWN = ("prefill", "step", "tokenize", "text_ids", "detokenize")


def test_a_warm_up_leaves_slots_as_they_are(made_once):
    """A text continues after it as without it; an empty slot stays empty."""
    batcher = batcher_of(made_once)
    (expected,) = batcher.write(["the fox"])
    batcher.join("the fox")
    requests = [each for each in read_warmup(exported(made_once)) if each.signature in OWN]
    assert [each.signature for each in requests] == ["prefill", "prefill", *OWN[1:]]
    found = []
    while batcher.free < 2:
        for each in requests:
            batcher.loaded.run(each.signature, each.inputs)
        found = batcher.step()
    assert found[0].ids == expected.ids
    assert found[0].log_probabilities == expected.log_probabilities


def test_warm_up_requests_ask_with_parameters(made_once):
    requests = {each.signature: each.inputs for each in read_warmup(exported(made_once))}
    assert {"generate", "generate_with_parameters", "score"} <= requests.keys()
    assert requests["generate_with_parameters"].keys() == {"text", *PARAMETERS}
    assert requests["generate_with_parameters"]["top_k"] == [5]
    # The model has no signature `evaluate`, which needs a corpus.
    assert "evaluate" not in requests


def test_requests_are_answered_or_refused_by_name(made_once):
    """In the session of this process, on slots of their own."""
    batcher, messages = ContinuousBatcher(exported(made_once)), {}
    described, model = batcher.described, batcher.loaded
    for each in slot_requests(described):
        if each.refused:
            with pytest.raises(Exception) as error:
                model.run(each.request.signature, each.request.inputs)
            messages[each.name] = str(error.value)
        else:
            found = model.run(each.request.signature, each.request.inputs)
            assert {len(values) for values in found.values()} == {1 if "room" in found else 2}
    for name, named in {
        "no prompt": "active: ",
        "no such slot": "slot: .*-1 .*2",
        "an empty prompt": "ids: .*1 to 14",
        "a prompt that is too long": "ids: .*1 to 14",
        "no such token": "ids: .*0 .*22",
        "no token may come": "mask: ",
        "a bias of no token": "bias_ids: .*0 .*22",
        "a bias out of range": "biases: ",
        "top_p out of range": r"top_p: .*0\.0 .*1\.0",
    }.items():
        assert re.search(named, messages[name]), name


@pytest.mark.repeated
def test_a_process_without_firth_answers_and_refuses_what_is_out_of_range(made_once):
    report = validate_serving(exported(made_once))
    assert report["reasons"] == []
    tried = {name: [case["name"] for case in each["cases"]] for name, each in report["signatures"].items()}
    assert tried["tokenize"][:-1] == list(TEXT_CASES)
    assert "top_p out of range" in tried["step"] and "the longest prompt" in tried["prefill"]
    mask = report["signatures"]["step"]["inputs"]["mask"]
    assert (mask["dtype"], mask["shape"]) == ("int32", [2, 1])
    asked = {each for each in tried["generate_with_parameters"] if not each.startswith("warm-up request")}
    assert asked == {"parameters", *(f"{name} out of range" for name in PARAMETERS)}
    assert len(tried["generate_with_parameters"]) == len(asked) + 1
    text = report["signatures"]["generate"]["inputs"]["text"]
    assert (text["dtype"], text["shape"]) == ("string", ["batch"])


def test_slots_take_no_room_in_the_checkpoint(made_once):
    """It has the model's variables and no others. Nor is there a file that says how requests are joined."""
    folder = exported(made_once)
    stored = tf.train.list_variables(os.path.join(folder, "variables", "variables"))
    names = [name for name, _ in stored if "OBJECT_GRAPH" not in name and "save_counter" not in name]
    weights = [name for name in names if name.startswith("model_variables/")]
    assert len(weights) == len(generator_of_exported().model.variables)
    assert not [name for name in names if name.startswith("slots")]
    assert not os.path.exists(os.path.join(folder, "assets.extra", "batching_parameters.txt"))
