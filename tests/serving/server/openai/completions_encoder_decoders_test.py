"""Completions of encoder-decoders: the texts of the generator, alone and among others."""

import openai
import pytest
from starlette.testclient import TestClient

from firth.serving.saved_model import export
from firth.serving.server.app import make_app
from firth.serving.server.models import Models
from firth.serving.server.openai import routes as api
from firth.serving.server.settings import ServerSettings
from firth.serving.server.sources import ModelSource
from tests.generation.cases import PROMPTS, eagerly, generator_of
from tests.serving.server.openai.talking import NAME, TalkingModels
from tests.serving.slots.models import SHORTEST, served_by

T5, BART = "span_corruption", "denoising"


@pytest.mark.parametrize("objective", [T5, pytest.param(BART, marks=pytest.mark.repeated)])
def test_texts_are_those_of_the_generator(objective):
    generator = generator_of(objective)
    # It writes dozens of tokens.
    models = TalkingModels(generator, ["step"])
    http = TestClient(make_app(models, ServerSettings(), rooms=(api.routes,)))
    check_completions(generator, http)
    models.version.slots.close()


@pytest.mark.repeated
def test_texts_of_an_export_are_those_of_the_generator(made_once):
    generator = generator_of(T5)

    def make(folder):
        served = served_by(generator, warmup_requests=1)
        with SHORTEST:
            export(served.model, served.tokenizer, served.recipe, None, str(folder))

    models = Models([ModelSource(NAME, str(made_once("t5_with_slots", make)))], ServerSettings())
    http = TestClient(make_app(models, ServerSettings()))
    check_completions(generator, http)
    # The encoder gives vectors as well, also of tokens.
    vectors = [
        [each["embedding"] for each in http.post("/v1/embeddings", json=body).json()["data"]]
        for body in ({"model": NAME, "input": given} for given in ("the fox", [5, 6], [[5, 6]]))
    ]
    assert vectors[0] == vectors[1] == vectors[2]
    models.close()


def check_completions(generator, http):
    client = openai.OpenAI(base_url=f"{http.base_url}/v1", api_key="-", http_client=http, max_retries=0)
    asked = {"model": NAME, "max_tokens": 5, "temperature": 0}
    with eagerly():
        written = [generator.generate(each, max_new_tokens=5, log_probabilities=True) for each in PROMPTS]
    assert len({each.text for each in written}) > 1
    # More than there are slots.
    together = client.completions.create(**asked, prompt=PROMPTS, logprobs=1)
    assert together.usage.prompt_tokens == sum(len(each.prompt_tokens) for each in written)
    for prompt, expected, shared in zip(PROMPTS, written, together.choices, strict=True):
        reason = {"end": "stop", "length": "length"}[expected.ended]
        assert (shared.text, shared.finish_reason) == (expected.text, reason)
        assert shared.logprobs.token_logprobs == pytest.approx(expected.log_probabilities, abs=1e-4)
        alone = client.completions.create(**asked, prompt=prompt)
        assert alone.choices[0].text == expected.text
        assert alone.usage.completion_tokens == len(expected.ids)
    streamed = client.completions.create(**asked, prompt=PROMPTS[0], stream=True)
    assert "".join(each.choices[0].text for each in streamed) == written[0].text
    drawn = {**asked, "temperature": 1, "seed": 3}
    assert (
        client.completions.create(**drawn, prompt=PROMPTS[:2]).choices[0].text
        == client.completions.create(**drawn, prompt=PROMPTS[0]).choices[0].text
    )
    # Its decoder predicts no prompt.
    with pytest.raises(openai.BadRequestError) as refused:
        client.completions.create(**asked, prompt=PROMPTS[0], echo=True, logprobs=1)
    assert refused.value.param == "echo" and "score_tokens" in refused.value.message
