"""Samples of a model's predictions on held-out texts while it trains."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from firth import features as names

_SHOWN_TOKENS, _PROPOSED = 24, 3


def sampler(served: Any, documents: Sequence[Sequence[int]]) -> Callable[[], list[dict[str, Any]]]:
    """Returns a function that returns a sample of each document, by the current weights.

    A sample has the `text`, with a mask or up to the piece that is asked about, that piece as `answer`,
    and the most probable pieces as `proposed`. There are no samples of models that neither fill masks nor
    continue a text.

    Args:
        served: Model with its tokenizer and recipe, a `firth.serving.served.Served`.
        documents: Tokens of each document.
    """
    from firth.serving.signatures import text_signatures

    signatures = text_signatures(served.recipe, served.tokenizer.mask_token)
    documents = [document[:_SHOWN_TOKENS] for document in documents if len(document) > 1]
    if "fill_mask" in signatures:
        return _masked(served, signatures["fill_mask"].function, documents)
    if "score" in signatures and list(signatures["score"].inputs) == ["text"]:
        return _continued(served, documents)
    return lambda: []


def _masked(
    served: Any, fill_mask: Callable[..., dict[str, tf.Tensor]], documents: Sequence[Sequence[int]]
) -> Callable[[], list[dict[str, Any]]]:
    asked = [_mask_middle(served.tokenizer, document) for document in documents]
    fill = tf.function(lambda text: fill_mask(served, text), autograph=False)

    def samples() -> list[dict[str, Any]]:
        made = fill(tf.constant([text for text, _ in asked])) if asked else {"pieces": []}
        return [
            {
                "text": text,
                "answer": answer,
                "proposed": [_text(piece) for piece in pieces.numpy()[0][:_PROPOSED]],
            }
            for (text, answer), pieces in zip(asked, made["pieces"])
        ]

    return samples


def _mask_middle(tokenizer: Any, document: Sequence[int]) -> tuple[str, str]:
    middle = len(document) // 2
    before, after = (_decoded(tokenizer, part) for part in (document[:middle], document[middle + 1 :]))
    return f"{before} {tokenizer.mask_token} {after}".strip(), _piece(tokenizer, document[middle])


def _continued(served: Any, documents: Sequence[Sequence[int]]) -> Callable[[], list[dict[str, Any]]]:
    tokenizer, model = served.tokenizer, served.model

    @tf.function(autograph=False)
    def next_pieces(tokens: tf.Tensor) -> tf.Tensor:
        ones = tf.ones_like(tokens)
        row = {
            names.TOKEN_IDS: tokens,
            names.POSITION_IDS: tf.range(tf.shape(tokens)[1])[tf.newaxis],
            names.DOCUMENT_IDS: ones,
        }
        last = model.backbone(row, training=False)[:, -1]
        logits = model.heads.project(model.backbone, last)
        return tf.math.top_k(tf.where(served.proposable(), logits, logits.dtype.min), _PROPOSED).indices[0]

    def samples() -> list[dict[str, Any]]:
        found = []
        for document in documents:
            tokens = tf.constant([[tokenizer.cls_id, *document[:-1]]], tf.int32)
            proposed = [_piece(tokenizer, token) for token in next_pieces(tokens).numpy()]
            text, answer = _decoded(tokenizer, document[:-1]), _piece(tokenizer, document[-1])
            found.append({"text": text, "answer": answer, "proposed": proposed})
        return found

    return samples


def _decoded(tokenizer: Any, tokens: Sequence[int]) -> str:
    return _text(tokenizer.detokenize(tf.ragged.constant([list(map(int, tokens))], tf.int32)).numpy()[0])


def _piece(tokenizer: Any, token: int) -> str:
    return _text(tokenizer.get_vocabulary()[int(token)])


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(np.asarray(value))
