"""POST /v1/classify, /v1/tag and /v1/fill_mask: classes of texts, tags of words, pieces of masks."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from firth.serving.server.asking import answers, has
from firth.serving.server.encoders.bodies import ClassifyBody, FillMaskBody, TagBody
from firth.serving.server.errors import RequestError
from firth.serving.server.openai.answering import new_id
from firth.serving.server.versions import ModelVersion

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
