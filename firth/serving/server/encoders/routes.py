"""Addresses of encoders, and their answers: ranks, classes of texts, tags of words, pieces of masks."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from firth.recipes.base.errors import suggest
from firth.serving.server.asking import answers, has
from firth.serving.server.encoders.bodies import ClassifyBody, FillMaskBody, RankBody, TagBody
from firth.serving.server.errors import RequestError
from firth.serving.server.json_requests import Body, read_body
from firth.serving.server.models import Models
from firth.serving.server.openai.answering import new_id, while_connected
from firth.serving.server.settings import ServerSettings
from firth.serving.server.versions import ModelVersion

# Signatures that score a text for a query, the first that a model has.
SIGNATURES = ("regress_pair", "classify_pair", "embed")
_PAIR = 2


async def classify(body: ClassifyBody, version: ModelVersion) -> dict[str, Any]:
    """Returns the likeliest class of each text, or pair of texts, with the probabilities of all.

    Raises:
        RequestError: 404 for a model without classes of so many texts.
    """
    if isinstance(body.input, list) and body.input and isinstance(body.input[0], list):
        pairs: Any = body.input
        if any(len(each) != _PAIR for each in pairs):
            raise RequestError("input: each list has a text and its pair", 400, "input")
        texts, seconds = zip(*pairs)
        found = await answers(version, "classify_pair", texts, "input", pair=seconds)
    else:
        has(version, "classify")
        found = await answers(version, "classify", _texts(body.input), "input")
    data = [
        {
            "index": number,
            "label": each["label"],
            "probs": each["probabilities"],
            "num_classes": len(each["labels"]),
            "labels": each["labels"],
        }
        for number, each in enumerate(found)
    ]
    return _answered("classify", version, data, found)


async def tag(body: TagBody, version: ModelVersion) -> dict[str, Any]:
    """Returns the tag of each word of each text, with the word's place in the text.

    Words that are given as such have no places.

    Raises:
        RequestError: 404 for a model without tags.
    """
    texts = _texts(body.input)
    name = version.client.asked("tag_words", texts) if texts else "tag"
    found = await answers(version, has(version, name), texts, "input")
    data = [{"index": number, "words": _words(each)} for number, each in enumerate(found)]
    return _answered("tag", version, data, found)


def _words(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    fields = [(ours, theirs) for ours, theirs in _OF_WORDS.items() if ours in answer]
    return [{theirs: answer[ours][place] for ours, theirs in fields} for place in range(answer["word_count"])]


_OF_WORDS = {
    "words": "word",
    "starts": "start",
    "ends": "end",
    "tags": "tag",
    "probabilities": "score",
    "are_read": "is_read",
}


async def fill_mask(body: FillMaskBody, version: ModelVersion) -> dict[str, Any]:
    """Returns the likeliest pieces for each mask of each text.

    Raises:
        RequestError: 404 for a model that fills no masks; 400 for a text without a mask, and for more pieces
            than the model gives.
    """
    has(version, "fill_mask")
    texts, mask = _texts(body.input), version.client.mask
    for number, each in enumerate(texts):
        if mask not in each:
            raise RequestError(f"input: text {number} has no {mask}", 400, "input")
    found = await answers(version, "fill_mask", texts, "input")
    given = len(found[0]["pieces"][0])
    if (body.top_k or 0) > given:
        raise RequestError(
            f"top_k: {body.top_k}; the model was exported with export.top_k: {given}", 400, "top_k"
        )
    data = [{"index": number, "masks": _masks(each, body.top_k)} for number, each in enumerate(found)]
    return _answered("fill_mask", version, data, found)


def _masks(answer: Mapping[str, Any], most: int | None) -> list[list[dict[str, Any]]]:
    rows = zip(answer["pieces"][: answer["mask_count"]], answer["scores"])
    return [
        [{"token_str": piece, "score": score} for piece, score in list(zip(pieces, scores))[:most]]
        for pieces, scores in rows
    ]


def _texts(given: Any) -> Sequence[Any]:
    return [given] if isinstance(given, str) else list(given)


def _answered(
    name: str, version: ModelVersion, data: list[dict[str, Any]], found: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    read = sum(each["tokens_read"] for each in found)
    return {
        "id": new_id(name),
        "object": "list",
        "created": int(time.time()),
        "model": version.name,
        "data": data,
        "usage": {"prompt_tokens": read, "total_tokens": read},
    }


async def rerank(body: RankBody, version: ModelVersion) -> Any:
    """Returns texts by their scores, the highest first.

    A pair head scores query and text together; without one it is the cosine of their vectors.

    Raises:
        RequestError: 404 for a model that has neither; 400 for a class that it lacks.
    """
    if (body.documents is None) == (body.texts is None):
        raise RequestError("documents: required, or texts in their place", 400, "documents")
    parameter = "texts" if body.documents is None else "documents"
    texts = [each if isinstance(each, str) else each.text for each in body.documents or body.texts or ()]
    name = has(version, *SIGNATURES)
    if body.label is not None and name != "classify_pair":
        raise RequestError(f"label: {version.name} scores by {name}, which has no classes", 400, "label")
    scores, read = await _SCORES[name](version, body, texts, parameter)
    ranked = sorted(range(len(texts)), key=lambda place: -scores[place])[: body.top_n]
    if body.texts is not None:
        return [
            {"index": place, "score": scores[place], **({"text": texts[place]} if body.return_text else {})}
            for place in ranked
        ]
    results = [
        {
            "index": place,
            "relevance_score": scores[place],
            **({"document": {"text": texts[place]}} if body.return_documents else {}),
        }
        for place in ranked
    ]
    usage = {"prompt_tokens": read, "total_tokens": read}
    return {"id": new_id("rerank"), "model": version.name, "usage": usage, "results": results}


Scores = tuple[list[float], int]


async def _of_numbers(version: ModelVersion, body: RankBody, texts: Sequence[str], parameter: str) -> Scores:
    found = await answers(version, "regress_pair", [body.query] * len(texts), parameter, pair=texts)
    return [each["value"] for each in found], sum(each["tokens_read"] for each in found)


async def _of_classes(version: ModelVersion, body: RankBody, texts: Sequence[str], parameter: str) -> Scores:
    found = await answers(version, "classify_pair", [body.query] * len(texts), parameter, pair=texts)
    labels: list[str] = found[0]["labels"]
    if body.label is None and len(labels) != 2:
        raise RequestError(
            f"label: required of a model of {len(labels)} classes: {', '.join(labels)}", 400, "label"
        )
    label = labels[1] if body.label is None else body.label
    if label not in labels:
        raise RequestError(f"label: there is no class {label!r}; {suggest(label, labels)}", 400, "label")
    scores = [each["probabilities"][labels.index(label)] for each in found]
    return scores, sum(each["tokens_read"] for each in found)


async def _of_cosines(version: ModelVersion, body: RankBody, texts: Sequence[str], parameter: str) -> Scores:
    found = await answers(version, "embed", [body.query, *texts], parameter)
    vectors = np.asarray([each["embedding"] for each in found], np.float64)
    sizes = np.linalg.norm(vectors, axis=1)
    # A text without tokens has no direction.
    cosines = vectors[1:] @ vectors[0] / np.maximum(sizes[1:] * sizes[0], np.finfo(np.float64).tiny)
    return cosines.tolist(), sum(each["tokens_read"] for each in found)


_SCORES = {"regress_pair": _of_numbers, "classify_pair": _of_classes, "embed": _of_cosines}


class EncoderAnswer(NamedTuple):
    """An address at which encoders are asked.

    Attributes:
        answer: Function from a body and a version of a model to the answer.
        body: Type of the body.
        signatures: Signatures of which a model that can answer has one.
        paths: Addresses.
    """

    answer: Callable[[Any, ModelVersion], Awaitable[Any]]
    body: type[Body]
    signatures: tuple[str, ...]
    paths: tuple[str, ...]

    def can_answer(self, version: ModelVersion) -> bool:
        """Returns whether a version of a model can answer."""
        return any(name in version.description.get("signatures", {}) for name in self.signatures)


# Servers of Cohere, vLLM and text-embeddings-inference have the shorter and the later ones.
ANSWERS = (
    EncoderAnswer(rerank, RankBody, SIGNATURES, ("/v1/rerank", "/v2/rerank", "/rerank")),
    EncoderAnswer(classify, ClassifyBody, ("classify", "classify_pair"), ("/v1/classify", "/classify")),
    EncoderAnswer(tag, TagBody, ("tag", "tag_words"), ("/v1/tag",)),
    EncoderAnswer(fill_mask, FillMaskBody, ("fill_mask",), ("/v1/fill_mask",)),
)


def routes(models: Models, settings: ServerSettings) -> list[BaseRoute]:
    """Returns the routes.

    Args:
        models: Models that are served.
        settings: Settings of the server, which nothing here depends on.
    """
    return [Route(path, _handler(models, each), methods=["POST"]) for each in ANSWERS for path in each.paths]


def _handler(models: Models, asked: EncoderAnswer) -> Any:
    async def answered(request: Request) -> Response:
        body: Any = await read_body(asked.body, request)
        name = body.model or only_model(models, asked.can_answer)
        with models.lease(name) as version:
            return JSONResponse(await asked.answer(body, version))

    return while_connected(answered)


def only_model(models: Models, can_answer: Callable[[ModelVersion], bool]) -> str:
    """Returns the name of the one model that can answer a request that names none.

    Raises:
        RequestError: 404 if no model can answer; 400 with their names if several can.
    """
    found = []
    for name in models.names:
        with models.lease(name) as version:
            found += [name] if can_answer(version) else []
    if not found:
        raise RequestError(f"no model answers this; there are {', '.join(models.names)}", 404, "model")
    if len(found) > 1:
        raise RequestError(f"model: required; one of {', '.join(found)}", 400, "model")
    return found[0]
