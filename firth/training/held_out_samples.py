"""Samples of a model's predictions on held-out texts while it trains."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features as names

Features: TypeAlias = Mapping[str, npt.NDArray[Any]]
# Function from features to logits, by the current weights of a model.
Compiled: TypeAlias = Callable[[Features], npt.NDArray[Any]]
Compile: TypeAlias = Callable[[Callable[[Mapping[str, Any]], Any]], Compiled]

_SHOWN_TOKENS, _PROPOSED = 24, 3


def in_graph(function: Callable[[Mapping[str, Any]], Any]) -> Compiled:
    """Returns a function of features, compiled by TensorFlow."""
    compiled = tf.function(function, autograph=False)

    def call(features: Features) -> npt.NDArray[Any]:
        return np.asarray(compiled({name: tf.constant(value) for name, value in features.items()}))

    return call


def sampler(
    served: Any, documents: Sequence[Sequence[int]], compiled: Compile = in_graph
) -> Callable[[], list[dict[str, Any]]]:
    """Returns a function that returns a sample of each document, by the current weights.

    A sample has the `text`, with a mask or up to the piece that is asked about, that piece as `answer`,
    and the most probable pieces as `proposed`. There are no samples of models that neither fill masks nor
    continue a text.
    """
    from firth.serving.signatures import text_signatures

    signatures = text_signatures(served.recipe, served.tokenizer.mask_token)
    documents = [document[:_SHOWN_TOKENS] for document in documents if len(document) > 1]
    if "fill_mask" in signatures:
        return _masked(served, documents, compiled)
    if "score" in signatures and list(signatures["score"].inputs) == ["text"]:
        return _continued(served, documents, compiled)
    return lambda: []


def _masked(
    served: Any, documents: Sequence[Sequence[int]], compiled: Compile
) -> Callable[[], list[dict[str, Any]]]:
    from firth.serving.fill_mask import encode_masked

    asked = [_mask_middle(served.tokenizer, document) for document in documents]
    if not asked:
        return lambda: []
    read = encode_masked(served, tf.constant([text for text, _ in asked])).features
    features = {name: value.numpy() for name, value in read.items()}
    logits = compiled(lambda features: served.model.logits(features, training=False)["mlm"][:, 0])

    def samples() -> list[dict[str, Any]]:
        return [
            {"text": text, "answer": answer, "proposed": _likeliest(served, row)}
            for (text, answer), row in zip(asked, logits(features), strict=True)
        ]

    return samples


def _mask_middle(tokenizer: Any, document: Sequence[int]) -> tuple[str, str]:
    middle = len(document) // 2
    before, after = (_decoded(tokenizer, part) for part in (document[:middle], document[middle + 1 :]))
    return f"{before} {tokenizer.mask_token} {after}".strip(), _piece(tokenizer, document[middle])


def _continued(
    served: Any, documents: Sequence[Sequence[int]], compiled: Compile
) -> Callable[[], list[dict[str, Any]]]:
    tokenizer, model = served.tokenizer, served.model

    def last_logits(row: Mapping[str, Any]) -> Any:
        return model.heads.project(model.backbone, model.backbone(row, training=False)[:, -1])

    logits = compiled(last_logits)

    def samples() -> list[dict[str, Any]]:
        found = []
        for document in documents:
            row = _row([tokenizer.cls_id, *document[:-1]])
            text, answer = _decoded(tokenizer, document[:-1]), _piece(tokenizer, document[-1])
            found.append({"text": text, "answer": answer, "proposed": _likeliest(served, logits(row)[0])})
        return found

    return samples


def _row(tokens: Sequence[int]) -> Features:
    """Returns the features of one document, int32 [1, tokens] each."""
    return {
        names.TOKEN_IDS: np.array([tokens], "int32"),
        names.POSITION_IDS: np.arange(len(tokens), dtype="int32")[np.newaxis],
        names.DOCUMENT_IDS: np.ones((1, len(tokens)), "int32"),
    }


def _likeliest(served: Any, logits: npt.NDArray[Any]) -> list[str]:
    """Returns the likeliest pieces of those that may be proposed, given the logits of all, the best first."""
    (pieces,) = np.nonzero(served.proposable())
    # Of equal ones the first, as TensorFlow's top_k has them.
    best = np.argsort(-logits.astype("float32")[pieces], kind="stable")[:_PROPOSED]
    return [_piece(served.tokenizer, token) for token in pieces[best]]


def _decoded(tokenizer: Any, tokens: Sequence[int]) -> str:
    return _text(tokenizer.detokenize(tf.ragged.constant([list(map(int, tokens))], tf.int32)).numpy()[0])


def _piece(tokenizer: Any, token: int) -> str:
    return _text(tokenizer.get_vocabulary()[int(token)])


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(np.asarray(value))
