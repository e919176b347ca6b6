"""Texts that are held to a schema, choices, a regular expression or a grammar, by OpenAI's client."""

import functools
import json
import re
from typing import Annotated, Literal

import openai
import pydantic
import pytest
from starlette.testclient import TestClient

from firth.generation import Generator
from firth.models import build_model
from firth.recipes.tokenizers.chat_template import TEMPLATES
from firth.recipes.tokenizers.tokenizer import BytePairTokenizerConfig
from firth.serving.server.app import make_app
from firth.serving.server.openai import routes as api
from firth.serving.server.settings import ServerSettings
from firth.tokenizers import BytePairTokenizer, count_byte_words, train_byte_pairs
from tests.repeating import often
from tests.serving.server.openai.served import WRITER, client_of, http_of, models_of
from tests.serving.server.openai.talking import NAME, TalkingModels
from tests.tasks.dialogue_test import served

SAID = [{"role": "user", "content": "yes or no?"}]


class Answer(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")

    answer: Literal["yes", "nö"]
    counts: Annotated[list[Annotated[int, pydantic.Field(ge=0, le=30)]], pydantic.Field(max_length=2)]


SCHEMA = Answer.model_json_schema()


@functools.cache
def talker() -> TestClient:
    """Returns a client of a tiny model of random weights that learned dialogues, of bytes."""
    known = served()
    pieces = train_byte_pairs(
        count_byte_words(['user assistant: {"answer":"yes","counts":[1]}'] * 3), 300, 1, 0
    )
    tokenizer = BytePairTokenizer(pieces, chat_template=TEMPLATES["plain"])
    recipe = known.recipe.model_copy(
        update={
            "tokenizer": BytePairTokenizerConfig(vocabulary_size=len(pieces)),
            "sequences": known.recipe.sequences.model_copy(update={"length": 120}),
        }
    )
    # The tests of this file write hundreds of tokens.
    models = TalkingModels(Generator(build_model(recipe), tokenizer, recipe), ["step"])
    return TestClient(make_app(models, ServerSettings(), rooms=(api.routes,)))


def client() -> openai.OpenAI:
    http = talker()
    return openai.OpenAI(base_url=f"{http.base_url}/v1", api_key="-", http_client=http, max_retries=0)


def test_replies_by_a_schema():
    found = client().chat.completions.parse(
        model=NAME, messages=SAID, response_format=Answer, seed=1, n=2, temperature=2, logprobs=True
    )
    for choice in found.choices:
        assert choice.finish_reason == "stop"
        assert isinstance(choice.message.parsed, Answer)
        *tokens, _ = (each.token for each in choice.logprobs.content)
        # A token of a part of a character has no text.
        assert "".join(tokens) == choice.message.content or "ö" in choice.message.content
    form = {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA, "strict": True}}
    asked = {"model": NAME, "messages": SAID, "seed": 3}
    whole = client().chat.completions.create(**asked, response_format=form)
    events = client().chat.completions.create(**asked, response_format=form, stream=True)
    text = "".join(each.choices[0].delta.content or "" for each in events)
    assert text == whole.choices[0].message.content
    Answer.model_validate_json(text)


def test_responses_by_a_schema():
    found = client().responses.parse(model=NAME, input=SAID, text_format=Answer, temperature=1)
    assert isinstance(found.output_parsed, Answer) and found.status == "completed"
    assert found.text.format.type == "json_schema"
    cut = client().responses.create(
        model=NAME,
        input=SAID,
        max_output_tokens=3,
        text={"format": {"type": "json_schema", "name": "a", "schema": SCHEMA}},
    )
    assert cut.status == "incomplete"


@pytest.mark.parametrize(
    ("outputs", "is_valid"),
    [
        pytest.param({"json": SCHEMA}, Answer.model_validate_json, marks=pytest.mark.repeated),
        ({"json": json.dumps(SCHEMA), "disable_any_whitespace": True}, Answer.model_validate_json),
        ({"regex": "[a-c]*-", "finish": True}, lambda text: re.fullmatch("[a-c]*-", text)),
        pytest.param(
            {"regex": "[a-c]{3}-\\d"},
            lambda text: re.fullmatch("[a-c]{3}-\\d", text),
            marks=pytest.mark.repeated,
        ),
        ({"choice": ["yes", "no", 'a "word"']}, lambda text: text in ("yes", "no", 'a "word"')),
        ({"grammar": 'start: "a" start "b" | "-"'}, lambda text: re.fullmatch("a*-b*", text)),
    ],
)
def test_outputs_as_clients_of_vllm_ask_for_them(outputs, is_valid):
    """The length cuts what may have no end."""
    made = client().chat.completions.create(
        model=NAME, messages=SAID, max_tokens=60, seed=5, extra_body={"structured_outputs": outputs}
    )
    (choice,) = made.choices
    assert choice.finish_reason == "length" or is_valid(choice.message.content)
    assert choice.finish_reason == "stop" or "grammar" in outputs


def test_any_object_is_json():
    form, ended = {"type": "json_object"}, []
    # With these seeds, a few tokens are a whole object.
    for seed in (5, 8):
        asked = {"model": NAME, "messages": SAID, "max_tokens": 40, "seed": seed}
        (choice,) = client().chat.completions.create(**asked, response_format=form).choices
        assert choice.message.content.startswith("{")
        assert choice.finish_reason == "length" or isinstance(json.loads(choice.message.content), dict)
        ended.append(choice.finish_reason)
    assert "stop" in ended


def test_completions_of_an_exported_model(made_once):
    """The space that a piece carries is no part of the text, nor of its tokens."""
    outputs = {"structured_outputs": {"choice": ["fox the dog", "a cat"]}}
    made = client_of(made_once).completions.create(
        model=WRITER, prompt=["the fox", "a cat"], max_tokens=6, n=2, logprobs=1, extra_body=outputs
    )
    for choice in made.choices:
        assert (choice.text, choice.finish_reason) in (("fox the dog", "stop"), ("a cat", "stop"))
        *tokens, _ = choice.logprobs.tokens
        assert "".join(tokens) == choice.text
        assert choice.logprobs.text_offset[1] == len(tokens[0])
    free = client_of(made_once).completions.create(model=WRITER, prompt="the fox", max_tokens=2)
    assert free.choices[0].finish_reason in ("stop", "length")
    with models_of(made_once).lease(WRITER) as version:
        assert (version.slots.active, version.slots.queued) == (0, 0)


WRONG = [
    (
        {"response_format": {"type": "json_schema", "json_schema": {"name": "a"}}},
        "json_schema.schema: required",
    ),
    ({"response_format": {"type": "json_object", "schema": {}}}, "response_format.schema"),
    ({"response_format": {"type": "text", "json_schema": {"name": "a"}}}, "response_format.json_schema"),
    ({"response_format": {"type": "lark"}}, "response_format.type"),
    ({"structured_outputs": {}}, "one of json, regex"),
    ({"structured_outputs": {"regex": "a", "choice": ["a"]}}, "regex and choice"),
    ({"structured_outputs": {"choice": []}}, "choice"),
    ({"structured_outputs": {"regex": "("}}, "structured_outputs.regex"),
    ({"structured_outputs": {"grammar": "start: x"}}, "structured_outputs.grammar"),
    ({"structured_outputs": {"json": "{"}}, "structured_outputs.json"),
    ({"structured_outputs": {"json": "[]"}}, "structured_outputs.json"),
    ({"structured_outputs": {"json": {"properties": {"a": {"not": {}}}}}}, "structured_outputs.json.*a/not"),
    ({"structured_outputs": {"json": {"minimum": 3, "maximum": 2}}}, "minimum"),
    ({"structured_outputs": {"json": {"$ref": "http://a/b"}}}, "ref"),
    ({"structured_outputs": {"regex": "a", "whitespace_pattern": " *"}}, "whitespace_pattern"),
    ({"structured_outputs": {"structural_tag": "a"}}, "structural_tag"),
    ({"structured_outputs": {"regexp": "a"}}, "regexp"),
    ({"structured_outputs": {"regex": "a"}, "response_format": {"type": "json_object"}}, "response_format"),
    ({"structured_outputs": {"regex": "a"}, "stop": "a"}, "stop"),
]


# Others of the same kind are refused as these.
OFTEN = [*WRONG[:5], WRONG[6], *WRONG[8:12], WRONG[14], *WRONG[16:]]


@pytest.mark.parametrize(("fields", "named"), often(WRONG, OFTEN))
def test_what_cannot_be_held_to_is_refused_with_its_place(made_once, fields, named):
    asked = {"model": WRITER, "prompt": "the fox", **fields}
    found = http_of(made_once).post("/v1/completions", json=asked)
    error = found.json()["error"]
    assert found.status_code == 400 and error["param"] in fields
    assert re.search(named, error["message"])
    for path, body in (
        ("/v1/chat/completions", {"messages": SAID}),
        ("/v1/responses", {"input": SAID}),
    ):
        if path == "/v1/responses" and ("stop" in fields or "response_format" in fields):
            continue
        again = talker().post(path, json={"model": NAME, **body, **fields})
        assert (again.status_code, again.json()["error"]["param"]) == (400, error["param"])
