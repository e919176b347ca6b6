"""Requests for warming up and checking a model without a user's text."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from firth import features as names
from firth.serving.served import Served
from firth.serving.signature import Signature, inputs_with
from firth.serving.signatures import text_signatures
from firth.serving.warmup import Request
from firth.serving.writing.parameter import WITH_PARAMETERS
from firth.tokenizers.graph.special_pieces import MASK
from firth.tokenizers.graph.word_bounds import word_starts

TEXTS = (
    "You shall know a word by the [MASK] it keeps.",
    "Returns the number of [MASK] in a list, or [MASK] if it is empty.",
    "A short one.",
)


def warmup_requests(served: Served, count: int, with_rows: bool = True) -> list[Request]:
    """Returns requests of each signature, of one text, two texts and so on."""
    requests, mask = [], served.tokenizer.mask_token or MASK
    signatures = text_signatures(served.recipe, served.tokenizer.mask_token)
    for size in range(1, count + 1):
        texts = [TEXTS[index % len(TEXTS)].replace(MASK, mask).encode() for index in range(size)]
        for name, signature in signatures.items():
            requests += requests_of(name, signature, inputs_with(signature.describe(), texts))
        if with_rows:
            rows = [sample_row(served, text, index) for index, text in enumerate(texts)]
            requests.append(Request("evaluate", {"examples": rows}))
    return requests


def requests_of(name: str, signature: Signature, texts: Mapping[str, list[bytes]]) -> list[Request]:
    """Returns a request of a signature about some texts, and one with parameters if it takes them."""
    count = len(next(iter(texts.values())))
    numbers = {key: np.full(count, each.example, each.dtype) for key, each in signature.parameters.items()}
    asked = [Request(name, {**texts})]
    return [*asked, Request(f"{name}{WITH_PARAMETERS}", {**texts, **numbers})] if numbers else asked


def sample_row(served: Served, text: bytes, example_id: int) -> bytes:
    """Returns a serialized row of one document: no negative row, and zeros as the labels of a task."""
    recipe, tokenizer = served.recipe, served.tokenizer
    tokens = tokenizer.tokenize(tf.constant([text]))[0].numpy()
    chunks = recipe.goal.sample_chunks(len(tokens), recipe.sequences)
    room = sum(chunks)
    tokens = tokens[:room]
    fields = {
        names.EXAMPLE_ID: [example_id],
        names.RAW_TOKENS: tokens,
        names.WORD_STARTS: word_starts(tokenizer, tokens, np.array([0, len(tokens)])),
        names.SENTENCE_STARTS: np.arange(len(tokens)) == 0,
        names.CHUNK_LENGTHS: list(chunks),
        names.DOCUMENT_KEYS: [example_id + 1] * len(chunks),
    }
    specs = recipe.goal.row_specs(recipe.sequences)
    labels = {name: spec for name, spec in specs.items() if name not in {*fields, names.CHARACTERS}}
    features = {name: _integers(values) for name, values in fields.items()}
    for name, spec in labels.items():
        zeros = np.zeros(spec.shape).flatten()
        features[name] = _numbers(zeros) if spec.dtype == "float32" else _integers(zeros)
    if tokenizer.max_characters:
        words = tokenizer.split([text])[0].numpy()[:room].tolist()
        features[names.WORDS] = tf.train.Feature(bytes_list=tf.train.BytesList(value=words))
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def _integers(values: Any) -> tf.train.Feature:
    return tf.train.Feature(int64_list=tf.train.Int64List(value=np.asarray(values, np.int64)))


def _numbers(values: Any) -> tf.train.Feature:
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))
