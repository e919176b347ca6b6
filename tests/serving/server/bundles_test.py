"""Bundles that CTranslate2 runs, asked by OpenAI's client: texts of the generator, and refusals by name."""

import functools
import os
import shutil
import threading

import openai
import pytest
from starlette.testclient import TestClient

from firth.generation import Generator, load_generator
from firth.models import save_model
from firth.serving.server.app import make_app
from firth.serving.server.bundles.version import GeneratorTexts
from firth.serving.server.metrics import Metrics
from firth.serving.server.models import Models
from firth.serving.server.settings import ServerSettings
from firth.serving.server.slot_queue import StepError
from firth.serving.server.sources import BundleSource
from firth.serving.slots.batcher import SlotPrompt
from firth.tokenizers import save_tokenizer
from tests.generation.framing_turns_test import SAID
from tests.interop.ctranslate2.exporting_test import place
from tests.interop.ctranslate2.generator_test import bundle_of
from tests.tasks.dialogue_test import served as served_dialogue
from tests.tasks.text_to_text_test import served as served_text_to_text
from tests.training.eagerly import eagerly

pytest.importorskip("ctranslate2")

NAMES = ("gpt2", "t5")
TASKS = {
    "dialogue": served_dialogue,
    "text_to_text": functools.partial(served_text_to_text, "t5_tiny", "text"),
}
PROMPTS = ["a b c d", "j i h g f e d c", "e"]
SETTINGS = ServerSettings(max_queued_texts=16)


@pytest.fixture(scope="module")
def http():
    sources = [BundleSource(name, place(name), engine="ctranslate2") for name in NAMES]
    metrics = Metrics()
    models = Models(sources, SETTINGS, metrics)
    yield TestClient(make_app(models, SETTINGS, metrics))
    models.close()


@pytest.fixture(scope="module")
def client(http):
    return openai.OpenAI(base_url=f"{http.base_url}/v1", api_key="-", http_client=http, max_retries=0)


@functools.cache
def generator(name):
    return load_generator(place(name), engine="ctranslate2")


@pytest.mark.parametrize("name", NAMES)
def test_texts_are_those_of_the_generator(client, name):
    """Alone and several at a time, whole and in a stream, cut at a stop and not."""
    asked = {"model": name, "max_tokens": 6, "temperature": 0}
    written = generator(name).generate(PROMPTS, max_new_tokens=6)
    found = client.completions.create(**asked, prompt=PROMPTS)
    assert [each.text for each in found.choices] == [each.text for each in written]
    assert found.usage.completion_tokens == sum(len(each.ids) for each in written)
    for prompt, text in zip(PROMPTS, [each.text for each in written]):
        stop = text[3:5]
        for stops in ({}, {"stop": stop}) if stop else ({},):
            whole = client.completions.create(**asked, **stops, prompt=prompt)
            events = list(client.completions.create(**asked, **stops, prompt=prompt, stream=True))
            assert "".join(each.choices[0].text for each in events) == whole.choices[0].text
            assert events[-1].choices[0].finish_reason == whole.choices[0].finish_reason
            assert whole.choices[0].text == (text[: text.index(stop)] if stops else text)
        echoed = client.completions.create(**asked, prompt=prompt, echo=True)
        assert echoed.choices[0].text == prompt + text


def permitted(monkeypatch, count=1):
    """Returns a semaphore with so many permits; each token waits for one.

    The engine writes in a thread of its own, which may end before the first step is read.
    """
    permits, runtime = threading.Semaphore(count), type(generator("gpt2")._runtime)
    write = runtime.write

    def write_permitted(self, texts, arguments):
        def take(step):
            permits.acquire()
            return arguments["callback"](step)

        return write(self, texts, {**arguments, "callback": take})

    monkeypatch.setattr(runtime, "write", write_permitted)
    return permits


def test_a_stream_has_several_pieces(client, monkeypatch):
    permits, step = permitted(monkeypatch, count=0), GeneratorTexts.step

    def step_permitted(self):
        permits.release()
        return step(self)

    monkeypatch.setattr(GeneratorTexts, "step", step_permitted)
    events = client.completions.create(model="gpt2", prompt="e", max_tokens=6, temperature=0, stream=True)
    assert len(list(events)) > 3


def test_the_text_of_a_seed_does_not_depend_on_other_prompts(client):
    asked = {"model": "gpt2", "max_tokens": 6, "extra_body": {"top_k": 9}}
    alone = client.completions.create(**asked, prompt=PROMPTS[0], seed=3).choices[0].text
    expected = generator("gpt2").generate(PROMPTS[0], max_new_tokens=6, temperature=1.0, top_k=9, seed=3)
    assert alone == expected.text
    several = client.completions.create(**asked, prompt=[*PROMPTS[1:], PROMPTS[0]], seed=3, n=2)
    assert several.choices[4].text == alone
    seeds = [client.completions.create(**asked, prompt="e", seed=seed).choices[0].text for seed in range(6)]
    assert len(set(seeds)) > 1
    # All of the vocabulary.
    whole = {**asked, "seed": 3, "prompt": PROMPTS[0]}
    texts = [
        client.completions.create(**{**whole, "extra_body": {"top_k": most}}).choices[0].text
        for most in (0, 9999)
    ]
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("logit_bias", {"7": 1}),
        ("logprobs", 0),
        ("logprobs", 2),
        ("best_of", 2),
        ("min_p", 0.5),
        ("typical_p", 0.5),
        ("presence_penalty", 0.5),
        ("frequency_penalty", 0.5),
        ("no_repeat_ngram_size", 2),
        ("min_tokens", 2),
        ("structured_outputs", {"regex": "a+"}),
        ("response_format", {"type": "json_object"}),
        ("prompt", "a " * 99),
        ("prompt", [9999]),
    ],
)
def test_a_parameter_that_the_engine_lacks_is_refused_by_name(http, parameter, value):
    asked = {"model": "gpt2", "prompt": "a", parameter: value}
    found = http.post("/v1/completions", json=asked)
    assert (found.status_code, found.json()["error"]["param"]) == (400, parameter)
    assert parameter in found.json()["error"]["message"]


def test_parameters_that_change_nothing(client):
    asked = {"model": "gpt2", "prompt": "a", "max_tokens": 2, "temperature": 0}
    plain = client.completions.create(**asked).choices[0].text
    neutral = {"presence_penalty": 0, "frequency_penalty": 0, "extra_body": {"min_p": 0, "min_tokens": 0}}
    assert client.completions.create(**asked, **neutral, best_of=1).choices[0].text == plain


def test_other_addresses(http, client):
    assert {each.id for each in client.models.list()} == set(NAMES)
    ids = http.post("/tokenize", json={"prompt": "a b", "model": "gpt2"}).json()["tokens"]
    text = http.post("/detokenize", json={"tokens": ids, "model": "gpt2"}).json()["prompt"]
    assert text.endswith("a b")
    found = client.completions.create(model="gpt2", prompt=ids, max_tokens=3, temperature=0)
    assert found.choices[0].text == generator("gpt2").generate("a b", max_new_tokens=3).text
    status = http.get("/v1/models/gpt2").json()["model_version_status"][0]
    assert (status["version"], status["state"]) == ("1", "AVAILABLE")
    asked = http.post("/v1/models/gpt2:predict", json={"instances": ["a"]})
    assert asked.status_code == 400 and "the model has none" in asked.json()["error"]
    asked = http.post("/v1/completions", json={"model": "t5", "prompt": ["a", ""]})
    assert asked.status_code == 400 and "prompt: it is empty" in asked.json()["error"]["message"]
    named = {"model": "gpt2", "version": 1, "signature": "generate", "texts": ["a"]}
    assert "it has none" in http.post("/firth/predict", json=named).json()["error"]["message"]
    assert http.get("/v1/models/gpt2/metadata").status_code == 200
    described = http.get("/playground/description.json").json()["models"]
    assert all(each["slots"]["parameters"] for each in described)
    assert 'model="gpt2"' in http.get("/metrics").text and "/v1/completions" in http.get("/openapi.json").text


def test_a_text_that_nobody_reads_frees_its_place(monkeypatch):
    """Those that wait are written next, and each text is the one that is written alone."""
    made = generator("gpt2")
    texts = GeneratorTexts(made, "ctranslate2", 3)
    ids = [each.ids for each in made.framing.read(PROMPTS)]
    expected = made.generate(PROMPTS, max_new_tokens=6)
    asked = {"max_new_tokens": 6}
    permits = permitted(monkeypatch)
    try:
        first, second = (texts.join(SlotPrompt(ids=each, parameters=asked)) for each in ids[:2])
        found = {each.number: each for each in texts.step()}
        third = texts.join(SlotPrompt(ids=ids[2], parameters=asked))
        assert texts.free == 0
        texts.end(first)
        assert texts.free == 1
    finally:
        permits.release(100)
    while texts.free < 3:
        found |= {each.number: each for each in texts.step()}
    for number, wanted in ((second, expected[1]), (third, expected[2])):
        assert (found[number].text, found[number].ended) == (wanted.text, wanted.ended)
        assert found[number].written == len(wanted.ids)
    assert not found[first].ended
    with pytest.raises(ValueError, match="min_p"):
        texts.join(SlotPrompt(ids=ids[0], parameters={"min_p": 0.5}))


def test_an_error_of_the_engine_ends_only_the_texts_that_it_writes(monkeypatch):
    made = generator("gpt2")
    texts = GeneratorTexts(made, "ctranslate2", 3)
    prompts = [
        SlotPrompt(ids=each.ids, parameters={"max_new_tokens": 6}) for each in made.framing.read(PROMPTS)
    ]
    first, other = texts.join(prompts[0]), texts.join(prompts[1]._replace(parameters={"max_new_tokens": 2}))

    def failing(texts, steps):
        raise RuntimeError("out of memory")
        yield

    with monkeypatch.context() as patched:
        patched.setattr(made, "blocks", failing)
        with pytest.raises(StepError) as failed:
            texts.step()
    assert failed.value.numbers == [first] and texts.free == 2
    written = []
    while texts.free < 3:
        written += texts.step()
    assert written[-1].number == other and written[-1].ended


@pytest.mark.parametrize("kind", TASKS)
def test_a_model_of_a_task_writes_as_the_keras_model_does(kind, tmp_path):
    served = TASKS[kind]()
    made = Generator(served.model, served.tokenizer, served.recipe)
    save_tokenizer(made.tokenizer, str(tmp_path / "tokenizer"))
    save_model(made.model, made.recipe, str(tmp_path / "tokenizer"), str(tmp_path / "bundle"))
    options = {"cache": tmp_path / "cache"}
    source = BundleSource("task", os.fspath(tmp_path / "bundle"), engine="ctranslate2", options=options)
    models = Models([source], SETTINGS)
    http = TestClient(make_app(models, SETTINGS, Metrics()))
    client = openai.OpenAI(base_url=f"{http.base_url}/v1", api_key="-", http_client=http, max_retries=0)
    asked = {"model": "task", "max_tokens": 6, "temperature": 0}
    with eagerly():
        if kind == "dialogue":
            expected = made.reply(SAID, max_new_tokens=6).text
            found = client.chat.completions.create(**asked, messages=SAID).choices[0].message.content
        else:
            expected = made.generate("the cat", max_new_tokens=6).text
            found = client.completions.create(**asked, prompt="the cat").choices[0].text
    models.close()
    assert found == expected


def test_a_model_without_texts_is_refused_with_the_way_to_serve_it():
    with pytest.raises(ValueError, match=r"masked_lm writes no text.*without --engine"):
        Models([BundleSource("bert", bundle_of("bert"), engine="ctranslate2")], SETTINGS)


def test_a_newer_bundle_of_a_run_is_taken(tmp_path):
    def trained(number):
        place = tmp_path / "run" / "pipeline" / "Trainer" / "model" / number / "bundle"
        shutil.copytree(bundle_of("gpt2"), place)

    trained("7")
    options = {"cache": tmp_path / "cache"}
    source = BundleSource("run", "run", root=os.fspath(tmp_path), engine="ctranslate2", options=options)
    models = Models([source], SETTINGS)
    with models.lease("run") as version:
        assert version.version == 7
    trained("9")
    models.reload()
    assert [(each.version, each.state) for each in models.status("run")] == [(9, "AVAILABLE"), (7, "END")]
    models.close()
