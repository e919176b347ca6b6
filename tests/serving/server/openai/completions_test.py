"""Completions: texts that the slots write, scores of prompts, streams, and refusals by name."""

import math

import numpy as np
import openai
import pytest

from tests.generation.cases import LENGTH, PIECES, eagerly
from tests.serving.server.openai.served import ENCODER, WRITER, client_of, http_of, models_of
from tests.serving.slots.models import generator_of_exported

FOX = [2, 5, 6]


def written(prompt="the fox", **asked):
    with eagerly():
        return generator_of_exported().generate(
            prompt, {"max_new_tokens": 4, "log_probabilities": True, **asked}
        )


def test_texts_are_those_of_the_generator(made_once):
    """A text, its tokens, and a list of either; each text of a seed is the one that the slots write alone."""
    client, expected = client_of(made_once), written()
    for prompt in ("the fox", FOX, ["the fox", "the fox"], [FOX, FOX]):
        found = client.completions.create(model=WRITER, prompt=prompt, max_tokens=4, temperature=0)
        count = 2 if isinstance(prompt[0], str | list) and isinstance(prompt, list) else 1
        assert [each.index for each in found.choices] == list(range(count))
        assert {each.text for each in found.choices} == {expected.text}
        assert found.usage.prompt_tokens == 3 * count
        assert found.usage.completion_tokens == count * len(expected.ids)
    drawn = client.completions.create(model=WRITER, prompt="the fox", max_tokens=4, seed=7, n=2, top_p=0.9)
    sampler = {"kind": "sample", "top_p": 0.9}
    assert [each.text for each in drawn.choices] == [
        written(sampler=sampler, seed=seed).text for seed in (7, 8)
    ]


def test_the_likeliest_of_several(made_once):
    client = client_of(made_once)
    asked = {"model": WRITER, "prompt": "a cat", "max_tokens": 4, "seed": 1, "logprobs": 0}
    every = client.completions.create(**asked, n=4).choices
    (best,) = client.completions.create(**asked, n=1, best_of=4).choices

    def mean(choice):
        return sum(choice.logprobs.token_logprobs) / len(choice.logprobs.token_logprobs)

    assert best.text == max(every, key=mean).text


def test_the_scores_of_a_prompt_as_an_evaluation_harness_reads_them(made_once):
    """Ids with echo and one token more: the first score is null, and the likeliest equals the largest."""
    client = client_of(made_once)
    prompt = [2, 5, 6, 7, 8, 5, 9]
    found = client.completions.create(
        model=WRITER, prompt=[prompt, FOX], max_tokens=1, temperature=0, logprobs=1, echo=True, seed=1234
    )
    first, second = (each.logprobs for each in found.choices)
    assert [len(each.token_logprobs) for each in (first, second)] == [len(prompt) + 1, len(FOX) + 1]
    assert first.token_logprobs[0] is None and first.top_logprobs[0] is None
    assert first.tokens[0] == "[CLS]"
    assert first.token_logprobs[-1] == max(first.top_logprobs[-1].values())
    scored = zip(first.token_logprobs[1:-1], first.top_logprobs[1:-1], strict=True)
    assert all(own <= max(top.values()) for own, top in scored)
    with models_of(made_once).lease(WRITER) as version:
        ids, length = np.array([prompt], np.int32), np.array([len(prompt)], np.int32)
        expected = version.submit("score_tokens", {"ids": ids, "length": length}).result()
    own, best = (expected[f"{name}log_probabilities"][0] for name in ("", "likeliest_"))
    assert first.token_logprobs[1:-1] == pytest.approx(own[1:].tolist(), abs=1e-5)
    largest = [max(each.values()) for each in first.top_logprobs[1:-1]]
    assert largest == pytest.approx(best[1:].tolist(), abs=1e-5)
    # A row of the likeliest tokens is greedy at each place, to the last bit.
    row = FOX
    for _ in range(3):
        asked = {"ids": np.array([[*row, 5]], np.int32), "length": np.array([len(row) + 1], np.int32)}
        row = [*row, int(version.submit("score_tokens", asked).result()["likeliest_ids"][0, -1])]
    greedy = client.completions.create(model=WRITER, prompt=row, max_tokens=1, logprobs=1, echo=True)
    scores = greedy.choices[0].logprobs
    assert scores.token_logprobs[3:-1] == [max(each.values()) for each in scores.top_logprobs[3:-1]]


def test_a_stream_has_the_text_of_the_whole_answer(made_once):
    client = client_of(made_once)
    asked = {
        "model": WRITER,
        "prompt": ["the fox", "a cat"],
        "max_tokens": 4,
        "temperature": 0,
        "logprobs": 1,
    }
    whole = client.completions.create(**asked, echo=True)
    texts, tokens, scores, reasons = ({0: [], 1: []} for _ in range(4))
    *events, last = client.completions.create(
        **asked, echo=True, stream=True, stream_options={"include_usage": True}
    )
    for (choice,) in (each.choices for each in events):
        texts[choice.index].append(choice.text)
        tokens[choice.index] += choice.logprobs.tokens
        scores[choice.index] += choice.logprobs.token_logprobs
        reasons[choice.index] += [choice.finish_reason] if choice.finish_reason else []
    for number, each in enumerate(whole.choices):
        assert "".join(texts[number]) == each.text and len(texts[number]) > 2
        assert (tokens[number], scores[number]) == (each.logprobs.tokens, each.logprobs.token_logprobs)
        assert reasons[number] == [each.finish_reason]
    assert last.choices == [] and last.usage == whole.usage


def test_a_text_ends_before_a_stop(made_once):
    client, whole = client_of(made_once), written(max_new_tokens=8)
    words = whole.text.split(" ")
    stop = " ".join(words[2:4])
    asked = {"model": WRITER, "prompt": "the fox", "max_tokens": 8, "temperature": 0, "stop": [stop, "?"]}
    (found,) = client.completions.create(**asked, logprobs=0).choices
    assert (found.text, found.finish_reason) == (whole.text[: whole.text.index(stop)], "stop")
    assert "".join(found.logprobs.tokens).startswith(found.text)
    streamed = [each.choices[0].text for each in client.completions.create(**asked, stream=True)]
    assert "".join(streamed) == found.text


def test_a_bias_and_penalties_reach_the_slots(made_once):
    client = client_of(made_once)
    found = client.completions.create(
        model=WRITER, prompt="the fox", max_tokens=3, temperature=0, logit_bias={"8": 100}
    )
    assert found.choices[0].text.split() == [PIECES[8]] * 3
    once = client.completions.create(
        model=WRITER,
        prompt="the fox",
        max_tokens=3,
        temperature=0,
        logit_bias={"8": 50},
        frequency_penalty=100,
    )
    assert once.choices[0].text.split().count(PIECES[8]) == 1


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("suffix", "end"),
        ("min_tokens", 17),
        ("n", 0),
        ("best_of", 200),
        ("logprobs", 6),
        ("temperature", "hot"),
        ("temperature", -1.0),
        ("top_p", 0.0),
        ("logit_bias", {"99": 1}),
        ("logit_bias", {str(number): 1 for number in range(17)}),
        ("prompt", []),
        ("prompt", [[]]),
        ("prompt", [99]),
        ("prompt", [2] * 99),
        ("prompt", "the " * 99),
        ("stop", ["a", "b", "c", "d", "e"]),
        ("stop", ""),
        ("stream_options", {"include_usage": True}),
        ("max_tokens", 0),
        ("guided_json", {"type": "object"}),
        ("response_format", {"type": "json_schema", "json_schema": {"name": "a", "schema": {"not": {}}}}),
        ("service_tier", "priority"),
    ],
)
def test_a_parameter_that_is_not_honoured_is_refused_by_name(made_once, parameter, value):
    asked = {"model": WRITER, "prompt": "the fox", parameter: value}
    found = http_of(made_once).post("/v1/completions", json=asked)
    assert (found.status_code, found.json()["error"]["param"]) == (400, parameter)
    assert parameter in found.json()["error"]["message"]


def test_parameters_that_change_nothing(made_once):
    client = client_of(made_once)
    asked = {"model": WRITER, "prompt": "the fox", "max_tokens": 4, "temperature": 0}
    plain = client.completions.create(**asked).choices[0].text
    same = client.completions.create(
        **asked, user="somebody", suffix=None, n=1, best_of=1, echo=False, extra_body={"service_tier": "auto"}
    )
    assert same.choices[0].text == plain


def test_models_that_cannot_answer(made_once):
    client = client_of(made_once)
    with pytest.raises(openai.NotFoundError, match="writer"):
        client.completions.create(model="writre", prompt="a")
    with pytest.raises(openai.NotFoundError, match="embed"):
        client.completions.create(model=ENCODER, prompt="a")
    with pytest.raises(openai.NotFoundError, match="chat template"):
        client.chat.completions.create(model=WRITER, messages=[{"role": "user", "content": "a"}])
    assert {each.id for each in client.models.list()} == {WRITER, ENCODER}


def test_bodies_that_are_not_requests(made_once):
    http = http_of(made_once)
    for body in (b"", b"{", b"[]", b'"a"', b"\xff\xfe", b'{"model": NaN}'):
        found = http.post("/v1/completions", content=body)
        assert found.status_code == 400 and found.json()["error"]["type"] == "invalid_request_error"
    assert http.post("/v1/completions", json={"prompt": "a"}).json()["error"]["param"] == "model"


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b'{"model": "writer", "prompt": "a", "model": "encoder"}', "model"),
        (
            b'{"model": "writer", "stream_options": {"include_usage": true, "include_usage": true}}',
            "stream_options",
        ),
        (
            b'{"model": "writer", "structured_outputs": {"json": {"enum": [{"a": 1, "\\u0061": 2}]}}}',
            "structured_outputs",
        ),
    ],
)
def test_a_key_that_is_given_twice_is_refused(made_once, body, named):
    found = http_of(made_once).post("/v1/completions", content=body).json()["error"]
    assert found["param"] == named and "given twice" in found["message"]


def test_more_tokens_than_there_is_room_for_are_cut(made_once):
    """As many as there is room for, in a whole answer and in a stream; each ends as `length`."""
    client = client_of(made_once)
    # Nothing reads the last token.
    for prompt, room in (("the fox", LENGTH - len(FOX) + 1), ([5] * LENGTH, 1)):
        asked = {"model": WRITER, "prompt": prompt, "temperature": 0, "logit_bias": {"8": 100}}
        found = client.completions.create(**asked, max_tokens=4096)
        assert (found.usage.completion_tokens, found.choices[0].finish_reason) == (room, "length")
        *_, last = client.completions.create(**asked, max_tokens=4096, stream=True)
        assert last.choices[0].finish_reason == "length"


def test_a_literal_answer(made_once):
    http = http_of(made_once)
    asked = {
        "model": WRITER,
        "prompt": "the fox",
        "max_tokens": 2,
        "temperature": 0,
        "logit_bias": {"8": 100},
    }
    made = http.post("/v1/completions", json={**asked, "logprobs": 1}).json()
    scores = made["choices"][0].pop("logprobs")
    assert made.pop("id").startswith("cmpl-") and made.pop("created") > 1_700_000_000
    assert made == {
        "object": "text_completion",
        "model": WRITER,
        "choices": [{"index": 0, "text": " over over", "finish_reason": "length"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    }
    assert (scores["tokens"], scores["text_offset"]) == ([" over", " over"], [0, 5])
    assert all(math.isfinite(each) for top in scores["top_logprobs"] for each in top.values())
    assert all(" over" in top and len(top) <= 2 for top in scores["top_logprobs"])


def test_all_slots_are_free_after_the_requests(made_once):
    with models_of(made_once).lease(WRITER) as version:
        assert (version.slots.active, version.slots.queued) == (0, 0)


def test_a_stream_that_is_cut_has_the_tokens_of_the_whole_answer(made_once):
    """Also where a stop begins within a token, and ends in a later one."""
    client = client_of(made_once)
    asked = {
        "model": WRITER,
        "prompt": ["the fox", "a cat"],
        "max_tokens": 8,
        "temperature": 0,
        "logprobs": 1,
    }
    plain = client.completions.create(**asked)
    stops = [plain.choices[0].text[size : size + 3] for size in range(4) if plain.choices[0].text[size:]]
    assert stops
    for stop in stops:
        whole = client.completions.create(**asked, stop=stop)
        streamed = {
            each.index: {"text": "", "tokens": [], "token_logprobs": [], "text_offset": []}
            for each in whole.choices
        }
        usage = None
        for each in client.completions.create(
            **asked, stop=stop, stream=True, stream_options={"include_usage": True}
        ):
            usage = each.usage or usage
            for choice in each.choices:
                streamed[choice.index]["text"] += choice.text
                for name in ("tokens", "token_logprobs", "text_offset"):
                    streamed[choice.index][name] += getattr(choice.logprobs, name)
        for choice in whole.choices:
            assert streamed[choice.index]["text"] == choice.text
            for name in ("tokens", "token_logprobs", "text_offset"):
                assert streamed[choice.index][name] == getattr(choice.logprobs, name), (stop, name)
        assert usage.completion_tokens == whole.usage.completion_tokens


@pytest.mark.parametrize(
    "path, body, parameter",
    [
        ("completions", {"prompt": ["a"] * 3000}, "prompt"),
        ("completions", {"prompt": ["a"] * 3, "n": 100}, "prompt"),
        ("completions", {"prompt": "a", "max_tokens": 2**40}, "max_tokens"),
        ("responses", {"input": "a", "max_output_tokens": 2**40}, "max_output_tokens"),
    ],
)
def test_what_has_no_room_at_any_time_is_refused_under_the_name_that_the_client_gave(
    made_once, path, body, parameter
):
    found = http_of(made_once).post(f"/v1/{path}", json={"model": WRITER, **body})
    assert found.status_code == 400 and found.json()["error"]["param"] == parameter
    assert parameter in found.json()["error"]["message"]
