"""Replies of a model that learned dialogues, whole and in a stream, by OpenAI's client."""

import openai
import pytest
from starlette.testclient import TestClient

from firth.serving.server.app import make_app
from firth.serving.server.openai import routes as api
from firth.serving.server.settings import ServerSettings
from tests.generation.cases import eagerly
from tests.generation.framing_turns_test import SAID
from tests.serving.server.openai.talking import NAME, talking


def test_replies():
    generator, models = talking()
    http = TestClient(make_app(models, ServerSettings(), rooms=(api.routes,)))
    client = openai.OpenAI(base_url=f"{http.base_url}/v1", api_key="-", http_client=http, max_retries=0)
    with eagerly():
        expected = generator.reply(SAID, max_new_tokens=3)
    asked = {"model": NAME, "messages": SAID, "max_completion_tokens": 3, "temperature": 0}
    whole = client.chat.completions.create(**asked, logprobs=True, top_logprobs=2)
    (choice,) = whole.choices
    assert (choice.message.role, choice.message.content) == ("assistant", expected.text)
    assert choice.finish_reason == {"end": "stop", "length": "length"}[expected.ended]
    assert whole.usage.prompt_tokens == len(expected.prompt_tokens)
    assert len(choice.logprobs.content) == whole.usage.completion_tokens == len(expected.ids)
    assert all(each.logprob == each.top_logprobs[0].logprob for each in choice.logprobs.content)
    *events, last = client.chat.completions.create(
        **asked, stream=True, stream_options={"include_usage": True}
    )
    assert events[0].choices[0].delta.role == "assistant"
    assert "".join(each.choices[0].delta.content or "" for each in events) == expected.text
    assert events[-1].choices[0].finish_reason == choice.finish_reason
    assert last.choices == [] and last.usage == whole.usage
    parts = [
        {**each, "content": [{"type": "text", "text": each["content"]}]}
        for each in SAID
        if each["role"] != "system"
    ]
    system = [{"role": "developer", "content": each["content"]} for each in SAID if each["role"] == "system"]
    same = client.chat.completions.create(**{**asked, "messages": [*system, *parts]})
    assert same.choices[0].message.content == expected.text
    answered = client.responses.create(model=NAME, input=SAID, max_output_tokens=3, temperature=0)
    assert answered.output_text == expected.text
    for messages in ([], [SAID[-1], SAID[-1]], [{"role": "assistant", "content": "a"}]):
        with pytest.raises(openai.BadRequestError) as error:
            client.chat.completions.create(model=NAME, messages=messages)
        assert error.value.param == "messages"
    with pytest.raises(openai.BadRequestError, match="chat/completions"):
        client.completions.create(model=NAME, prompt="a")
