"""Requests of the signatures of slots, to warm a model up and to try it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from firth.serving.warmup import Request, TrialRequest

# Most biases of a slot, and the greatest value, that of `logit_bias` in a request of `firth.generation`.
BIASES, GREATEST_BIAS = 16, 1e4


def prefill_request(slot: int, ids: Any) -> Request:
    """Returns the request that lets a slot read a prompt."""
    return Request("prefill", {"slot": np.array([slot], np.int32), "ids": np.array([ids], np.int32)})


def step_request(described: Mapping[str, Any], active: Any, **others: Any) -> Request:
    """Returns the request for a token of each active slot; parameters that are not given have their default.

    Args:
        **others: `mask`, int32 [slots, words], `bias_ids` and `biases`, [slots, 16], and values of
            parameters, [slots] each.
    """
    count = described["count"]
    values = {
        name: np.array(others.get(name, [each["default"]] * count), each["dtype"])
        for name, each in described["parameters"].items()
    }
    mask = np.array(others.get("mask", np.full([count, described["mask_words"]], -1)), np.int32)
    # A model that an earlier version exported reads none.
    for name, dtype in (("bias_ids", "int32"), ("biases", "float32")) if described.get("biases") else ():
        values[name] = np.array(others.get(name, np.zeros([count, described["biases"]])), dtype)
    return Request("step", {"active": np.array(active, bool), "mask": mask, **values})


def prompt_text(described: Mapping[str, Any], text: bytes) -> bytes:
    """Returns a text as `tokenize` of a model reads it: alone, or as a dialogue of one message.

    Example:

    >>> prompt_text({"prompted_with": "turns"}, b"Hi")
    b'[{"role": "user", "content": "Hi"}]'
    """
    if described["prompted_with"] != "turns":
        return text
    message = {"role": "user", "content": text.decode()}
    return json.dumps([message], ensure_ascii=False).encode()


def idle_requests(described: Mapping[str, Any]) -> list[Request]:
    """Returns requests that change no slot: prompts of each length for none, and an idle step."""
    prompts = [prefill_request(-1, [described["end_id"]] * length) for length in described["prompt_lengths"]]
    ids, length = np.array([[described["end_id"]]], np.int32), np.array([1], np.int32)
    tokens = {"prompt_ids": ids, "prompt_length": length, "ids": ids, "length": length}
    return [
        *prompts,
        step_request(described, [False] * described["count"]),
        Request("tokenize", {"text": [prompt_text(described, b"A sentence.")], "max_new_tokens": length}),
        Request("text_ids", {"text": [b"A sentence."]}),
        Request("detokenize", tokens),
    ]


def slot_requests(described: Mapping[str, Any]) -> Iterator[TrialRequest]:
    """Yields requests that try the signatures of slots, in their order."""
    count, longest, end = described["count"], described["prompt_lengths"][-1], described["end_id"]
    first = [True] + [False] * (count - 1)

    def step(name: str, active: Any = first, refused: bool = True, **others: Any) -> TrialRequest:
        return TrialRequest(name, step_request(described, active, **others), refused)

    yield step("no prompt")
    yield TrialRequest("a prompt for no slot", prefill_request(-1, [end]))
    yield step("no prompt after one for no slot")
    for name, slot, ids in (
        ("an empty prompt", 0, []),
        ("a prompt that is too long", 0, [end] * (longest + 1)),
        ("no such slot", count, [end]),
        ("no such token", 0, [described["vocabulary"]]),
    ):
        yield TrialRequest(name, prefill_request(slot, ids), refused=True)
    yield TrialRequest("the longest prompt", prefill_request(0, [end] * longest))
    yield TrialRequest("a prompt", prefill_request(0, [end]))
    yield step("no token may come", mask=np.zeros([count, described["mask_words"]]))
    places = [count, described["biases"]]
    yield step("a bias of no token", bias_ids=np.full(places, described["vocabulary"]))
    yield step("a bias out of range", biases=np.full(places, 1e9))
    for name, each in described["parameters"].items():
        wrong: dict[str, Any] = {name: [each["least"] - 1] * count}
        yield step(f"{name} out of range", **wrong)
    examples: dict[str, Any] = {
        name: [each["example"]] * count for name, each in described["parameters"].items()
    }
    yield step("parameters", refused=False, **examples)
    yield step("no active slot", [False] * count, refused=False)
    yield step("one active slot", refused=False)
