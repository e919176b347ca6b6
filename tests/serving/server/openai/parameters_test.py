"""Every parameter that OpenAI's client can send is honoured, does nothing, or is refused by its name."""

import json
import typing

import pytest
from openai.types import completion_create_params, embedding_create_params
from openai.types.chat import completion_create_params as chat_create_params
from openai.types.responses import response_create_params

from firth.serving.server.errors import RequestError
from firth.serving.server.json_requests import parse_body
from firth.serving.server.openai.chat import ChatBody
from firth.serving.server.openai.completions import CompletionBody
from firth.serving.server.openai.responses import ResponseBody
from firth.serving.server.openai.routes import EmbeddingBody

NEEDED = {
    CompletionBody: {"model": "a", "prompt": "b"},
    ChatBody: {"model": "a", "messages": [{"role": "user", "content": "b"}]},
    ResponseBody: {"model": "a", "input": "b"},
    EmbeddingBody: {"model": "a", "input": "b"},
}
CLIENT = {
    CompletionBody: completion_create_params.CompletionCreateParamsBase,
    ChatBody: chat_create_params.CompletionCreateParamsBase,
    ResponseBody: response_create_params.ResponseCreateParamsBase,
    EmbeddingBody: embedding_create_params.EmbeddingCreateParams,
}
# Values with which a request wants another answer than this server gives.
REFUSED = {
    CompletionBody: {"suffix": "end", "service_tier": "flex"},
    ChatBody: {
        "tools": [{"type": "function", "function": {"name": "f"}}],
        "tool_choice": "required",
        "functions": [{"name": "f"}],
        "function_call": {"name": "f"},
        "modalities": ["text", "audio"],
        "audio": {"voice": "a", "format": "wav"},
        "prediction": {"type": "content", "content": "a"},
        "reasoning_effort": "high",
        "verbosity": "low",
        "web_search_options": {},
        "store": True,
        "service_tier": "priority",
        "moderation": {"model": "a"},
        "messages": [{"role": "tool", "content": "a", "tool_call_id": "b"}],
        "n": 0,
    },
    ResponseBody: {
        "tools": [{"type": "web_search"}],
        "tool_choice": "required",
        "max_tool_calls": 1,
        "include": ["message.output_text.logprobs"],
        "top_logprobs": 2,
        "previous_response_id": "resp_a",
        "conversation": "conv_a",
        "context_management": [{"type": "compaction"}],
        "prompt": {"id": "a"},
        "reasoning": {"effort": "high"},
        "image": {},
        "moderation": {"model": "a"},
        "access_programs": {"cyber": "standard"},
        "background": True,
        "background_options": {},
        "store": True,
        "truncation": "auto",
        "input": [{"role": "user", "content": [{"type": "input_image", "image_url": "a"}]}],
    },
    EmbeddingBody: {"encoding_format": "int8"},
}
FOR_ALL = {"stop_token_ids": [1], "guided_json": {}, "temprature": 1.0}


@pytest.mark.parametrize("body", NEEDED)
def test_every_parameter_of_the_client_is_known(body):
    known = typing.get_type_hints(CLIENT[body], include_extras=False)
    # `stream` is of the two types that extend it.
    assert set(known) - set(body.model_fields) == set()
    nothing = {**dict.fromkeys(known), **NEEDED[body]}
    assert parse_body(body, json.dumps(nothing)) is not None


@pytest.mark.parametrize(
    ("body", "parameter", "value"),
    [(body, *each) for body, values in REFUSED.items() for each in [*values.items(), *FOR_ALL.items()]],
)
def test_a_parameter_that_is_not_honoured_is_refused_by_name(body, parameter, value):
    with pytest.raises(RequestError, match=parameter) as error:
        parse_body(body, json.dumps({**NEEDED[body], parameter: value}))
    assert (error.value.status, error.value.parameter) == (400, parameter)


@pytest.mark.parametrize("body", [CompletionBody, ChatBody, ResponseBody])
def test_parameters_that_change_nothing_are_accepted(body):
    neutral = {name: values[0] for name, values in body.neutral.items() if values}
    labels = {"user": "u", "metadata": {"a": "b"}, "safety_identifier": "s", "prompt_cache_key": "k"}
    found = parse_body(body, json.dumps({**NEEDED[body], **neutral, **labels}))
    assert found.user == "u"
    assert set(body.neutral) | set(body.ignored) <= set(body.model_fields)


def test_the_nearest_parameter_is_named():
    with pytest.raises(RequestError, match="did you mean temperature"):
        parse_body(CompletionBody, b'{"model": "a", "temprature": 1}')


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"model": "a", **{f"key{number}": 1 for number in range(20_000)}}, "key0: unknown parameter"),
        ({"model": "a", "input": [[None] * 20_000]}, "the body has .* errors"),
    ],
)
def test_a_body_of_many_errors_is_refused_without_listing_them(body, named):
    with pytest.raises(RequestError, match=named) as refused:
        parse_body(EmbeddingBody, json.dumps(body))
    assert refused.value.status == 400
