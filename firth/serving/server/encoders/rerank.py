"""POST /v1/rerank: texts by their fitness for a query."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from firth.recipes.base.errors import suggest
from firth.serving.server.asking import answers, has
from firth.serving.server.encoders.bodies import RankBody
from firth.serving.server.errors import RequestError
from firth.serving.server.openai.answering import new_id
from firth.serving.server.versions import ModelVersion

# Signatures that score a text for a query, the first that a model has.
SIGNATURES = ("regress_pair", "classify_pair", "embed")


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
