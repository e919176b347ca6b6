"""Ranks, classes, tags and masks by the shapes of other servers, and models that lack them."""

import asyncio
import functools
from concurrent.futures import Future
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from firth.models import build_model
from firth.recipes.tasks.classification import Classification
from firth.recipes.tasks.tagging import Tagging
from firth.serving.model_client import ModelClient
from firth.serving.served_model import Served
from firth.serving.server.encoders.bodies import ClassifyBody, RankBody, TagBody
from firth.serving.server.encoders.routes import classify, rerank, tag
from firth.serving.server.errors import RequestError
from firth.tokenizers import WordPieceTokenizer
from tests.exported_model import VOCABULARY
from tests.generation.cases import eagerly
from tests.reports.task_pages.records import adapting_recipe
from tests.serving.server.openai.served import ENCODER, WRITER, http_of, models_of

DOCUMENTS = ["it keeps", "the cat sat on the mat .", "a word"]
TASKS = {
    "pairs": Classification(labels=("no", "yes"), pair=True),
    "texts": Classification(labels=("no", "maybe", "yes")),
    "tags": Tagging(labels=("O", "B-ANIMAL", "I-ANIMAL")),
}


@functools.cache
def version_of(name):
    """A model of a task in memory, whose signatures are those of its export."""
    recipe = adapting_recipe(task=TASKS[name])
    tf.keras.utils.set_random_seed(1)
    client = ModelClient(Served(build_model(recipe), WordPieceTokenizer(VOCABULARY), recipe))
    described = {key: each.describe() for key, each in client.signatures.items()}

    def submit(signature, inputs):
        future = Future()
        future.set_result(client._call(signature, {key: tf.constant(each) for key, each in inputs.items()}))
        return future

    return SimpleNamespace(name=name, description={"signatures": described}, client=client, submit=submit)


def asked(answer, body, name):
    with eagerly():
        return asyncio.run(answer(body, version_of(name)))


def test_ranks_by_cosines_in_both_forms(made_once):
    http = http_of(made_once)
    with models_of(made_once).lease(ENCODER) as version:
        query, *vectors = version.client.embed(["the mat", *DOCUMENTS])
    cosines = [
        float(each @ query / np.linalg.norm(each) / np.linalg.norm(query)) for each in np.array(vectors)
    ]
    order = sorted(range(3), key=lambda place: -cosines[place])
    body = {"model": ENCODER, "query": "the mat"}
    found = http.post("/v1/rerank", json={**body, "documents": DOCUMENTS, "return_documents": True}).json()
    assert [each["index"] for each in found["results"]] == order
    assert [each["relevance_score"] for each in found["results"]] == pytest.approx(
        [cosines[place] for place in order], abs=1e-5
    )
    assert [each["document"]["text"] for each in found["results"]] == [DOCUMENTS[place] for place in order]
    asked_for = [{"text": DOCUMENTS[0]}, *DOCUMENTS[1:]]
    first = http.post("/v2/rerank", json={**body, "documents": asked_for, "top_n": 1}).json()
    assert first["results"] == [
        {"index": order[0], "relevance_score": found["results"][0]["relevance_score"]}
    ]
    inference = http.post(
        "/rerank", json={"query": "the mat", "texts": DOCUMENTS, "return_text": True}
    ).json()
    assert [each["text"] for each in inference] == [DOCUMENTS[place] for place in order]
    assert [set(each) for each in inference] == [{"index", "score", "text"}] * 3


def test_ranks_by_a_pair_head():
    with eagerly():
        client = version_of("pairs").client
        answers = client.ask("classify_pair", ["the mat"] * 3, pair=DOCUMENTS)
    yes = [each["probabilities"][1] for each in answers]
    found = asked(rerank, RankBody(query="the mat", documents=DOCUMENTS), "pairs")
    assert {each["index"]: each["relevance_score"] for each in found["results"]} == pytest.approx(
        dict(enumerate(yes))
    )
    no = asked(rerank, RankBody(query="the mat", documents=DOCUMENTS, label="no"), "pairs")
    assert [each["index"] for each in no["results"]] == [each["index"] for each in found["results"]][::-1]
    with pytest.raises(RequestError, match="yes"):
        asked(rerank, RankBody(query="the mat", documents=DOCUMENTS, label="yse"), "pairs")


def test_classes_of_texts_and_of_pairs():
    found = asked(classify, ClassifyBody(input=["the cat", "a word"]), "texts")
    assert found["object"] == "list" and [each["index"] for each in found["data"]] == [0, 1]
    for each in found["data"]:
        assert each["num_classes"] == 3 and sum(each["probs"]) == pytest.approx(1.0)
        assert each["label"] == each["labels"][int(np.argmax(each["probs"]))]
    (pair,) = asked(classify, ClassifyBody(input=[["the cat", "a word"]]), "pairs")["data"]
    assert pair["label"] in ("no", "yes")
    with pytest.raises(RequestError, match="classify_pair"):
        asked(classify, ClassifyBody(input="the cat"), "pairs")
    with pytest.raises(RequestError, match="pair"):
        asked(classify, ClassifyBody(input=[["the cat"]]), "pairs")


def test_tags_with_places_in_the_text():
    text = "the cat, zé"
    (found,) = asked(tag, TagBody(input=text), "tags")["data"]
    assert [(each["word"], each["start"], each["end"]) for each in found["words"]] == [
        ("the", 0, 3),
        ("cat", 4, 7),
        (",", 7, 8),
        ("zé", 9, 11),
    ]
    assert all(text[each["start"] : each["end"]] == each["word"] for each in found["words"])
    (words,) = asked(tag, TagBody(input=[["the", "cat"]]), "tags")["data"]
    assert [each["word"] for each in words["words"]] == ["the", "cat"]
    assert all(set(each) == {"word", "tag", "score", "is_read"} for each in words["words"])


def test_pieces_of_masks(made_once):
    http = http_of(made_once)
    body = {"model": ENCODER, "input": ["the [MASK] sat on [MASK] .", "a [MASK]"]}
    found = http.post("/v1/fill_mask", json=body).json()["data"]
    assert [[len(mask) for mask in each["masks"]] for each in found] == [[3, 3], [3]]
    with models_of(made_once).lease(ENCODER) as version:
        (expected, *_), *_ = version.client.fill_mask(body["input"])
    assert [(each["token_str"], each["score"]) for each in found[0]["masks"][0]] == [
        (each.piece, pytest.approx(each.score)) for each in expected
    ]
    one = http.post("/v1/fill_mask", json={**body, "top_k": 1}).json()["data"]
    assert [[len(mask) for mask in each["masks"]] for each in one] == [[1, 1], [1]]
    for refused, parameter in (({"top_k": 9}, "top_k"), ({"input": "no mask"}, "input"), ({"k": 1}, "k")):
        answer = http.post("/v1/fill_mask", json={**body, **refused})
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, parameter)


@pytest.mark.parametrize("path", ["/v1/classify", "/v1/tag", "/classify"])
def test_a_model_that_lacks_an_answer_names_what_it_has(made_once, path):
    http = http_of(made_once)
    found = http.post(path, json={"model": ENCODER, "input": "the cat"})
    assert found.status_code == 404 and "fill_mask" in found.json()["error"]["message"]
    nobody = http.post(path, json={"input": "the cat"})
    assert nobody.status_code == 404 and WRITER in nobody.json()["error"]["message"]


def test_a_text_that_is_too_long_is_refused_and_not_cut(made_once):
    body = {"model": ENCODER, "input": "the [MASK] " * 40}
    found = http_of(made_once).post("/v1/fill_mask", json=body)
    assert found.status_code == 400 and "80" in found.json()["error"]["message"]
