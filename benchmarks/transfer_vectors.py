"""Word vectors of skip-gram with negative sampling, and ELMo's task model with them instead of the biLM.

Mikolov et al. 2013, "Distributed Representations of Words and Phrases and their Compositionality", section 2.
"""

import pathlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from keras import ops

from firth import features as names
from firth.corpus.documents.document import Document
from firth.corpus.io.records import read_records
from firth.models.backbones.bilstm import BiLSTMBackbone
from firth.models.model_kinds import BACKBONES
from firth.tokenizers import load_tokenizer

# As in the reference implementation, but for the share from which words are left out, which fits small texts.
WINDOW, NEGATIVES, MIN_COUNT, EPOCHS, RATE, FREQUENT = 5, 5, 5, 1, 0.025, 1e-3
BATCH = 1024
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


def make_vectors(documents: pathlib.Path, tokenizer: str, width: int, path: pathlib.Path) -> None:
    """Writes the vectors of the words of documents, as ELMo's tokenizer splits them.

    Args:
        documents: Folder of the documents.
        tokenizer: Folder of ELMo's tokenizer.
        width: Width of a vector.
        path: Where they go; what is there stays.
    """
    if path.exists():
        return
    splitter = load_tokenizer(tokenizer)
    texts = [
        Document.from_example(each).text
        for file in sorted(documents.iterdir())
        for each in read_records(str(file))
    ]
    split: list[list[bytes]] = []
    for start in range(0, len(texts), 1000):
        split += splitter.split(texts[start : start + 1000]).to_list()
    counts = Counter(word for words in split for word in words)
    known = [word for word, count in counts.most_common() if count >= MIN_COUNT]
    ids = {word: id for id, word in enumerate(known)}
    sentences = [np.array([ids[word] for word in words if word in ids], np.int64) for words in split]
    vectors = skip_gram(sentences, np.array([counts[word] for word in known]), width)
    with path.open("wb") as file:
        np.savez(file, words=_spelt(splitter.characters(tf.constant(known)).numpy()), vectors=vectors)


def skip_gram(sentences: Sequence[Ints], counts: Ints, width: int, epochs: int = EPOCHS) -> Floats:
    """Returns a vector of each word, float32 [words, width].

    Args:
        sentences: Numbers of the words of each sentence.
        counts: How often each word occurs.
        width: Width of a vector.
        epochs: How often the sentences are read.

    Example:

    >>> near = [np.array([0, 1] * 4), np.array([2, 3] * 4)] * 200
    >>> made = skip_gram(near, np.full(4, 800), 8, epochs=2)
    >>> made.shape
    (4, 8)
    """
    random = np.random.default_rng(0)
    words = tf.Variable(random.uniform(-0.5, 0.5, (len(counts), width)).astype(np.float32) / width)
    contexts = tf.Variable(tf.zeros_like(words))
    ends = np.cumsum(counts**0.75) / np.sum(counts**0.75)
    total, done = epochs * sum(map(len, sentences)), 0

    @tf.function
    def step(centres: tf.Tensor, others: tf.Tensor, rate: tf.Tensor) -> None:
        """Moves the vectors of words, and of their contexts, the first of which is right."""
        own, read = tf.gather(words, centres), tf.gather(contexts, others)
        wrong = tf.sigmoid(tf.einsum("bd,bnd->bn", own, read)) - tf.one_hot(0, NEGATIVES + 1)
        moved = rate * wrong[:, :, tf.newaxis] * own[:, tf.newaxis]
        words.scatter_sub(tf.IndexedSlices(rate * tf.einsum("bn,bnd->bd", wrong, read), centres))
        contexts.scatter_sub(tf.IndexedSlices(tf.reshape(moved, [-1, width]), tf.reshape(others, [-1])))

    for read, pairs in _batches(sentences, counts, random, epochs):
        done += read
        negatives = np.searchsorted(ends, random.random((len(pairs), NEGATIVES))).clip(max=len(counts) - 1)
        others = np.concatenate([pairs[:, 1:], negatives], axis=1)
        rate = RATE * max(1 - done / total, 1e-4)
        step(tf.constant(pairs[:, 0]), tf.constant(others), tf.constant(rate, tf.float32))
    return np.asarray(words.numpy(), np.float32)


def _batches(
    sentences: Sequence[Ints], counts: Ints, random: np.random.Generator, epochs: int
) -> Iterator[tuple[int, Ints]]:
    """Yields the words read since the batch before, and pairs of a word and one near it, int64 [pairs, 2]."""
    share = counts / counts.sum()
    kept_share = np.minimum(1, np.sqrt(FREQUENT / share) + FREQUENT / share)
    held: list[Ints] = []
    read, size = 0, 0
    for _ in range(epochs):
        for place in random.permutation(len(sentences)):
            whole = sentences[place]
            sentence = whole[random.random(len(whole)) < kept_share[whole]]
            reach = random.integers(1, WINDOW + 1, size=len(sentence))
            for distance in range(1, WINDOW + 1):
                before, after = sentence[:-distance], sentence[distance:]
                held.append(np.stack([after, before], 1)[reach[distance:] >= distance])
                held.append(np.stack([before, after], 1)[reach[: len(before)] >= distance])
            read, size = read + len(whole), size + sum(map(len, held[-2 * WINDOW :]))
            if size >= 64 * BATCH:
                pairs = random.permutation(np.concatenate(held))
                for start in range(0, len(pairs) - BATCH + 1, BATCH):
                    yield read, pairs[start : start + BATCH]
                    read = 0
                held, size = [], 0
    if size:
        yield read, random.permutation(np.concatenate(held))


def read_vectors_instead(path: pathlib.Path) -> None:
    """Replaces the layers of each biLM that this process makes by word vectors.

    The task's own model stays the same: its mix of layers is then of equal ones. A word without a vector
    has zeros.

    Args:
        path: What `make_vectors` wrote.
    """
    kept = np.load(path)
    order = np.argsort(kept["words"])
    words, vectors = kept["words"][order], kept["vectors"][order]

    class WordVectorsBackbone(BiLSTMBackbone):
        """A biLM that gives word vectors."""

        def layer_outputs(self, features: Any, training: bool | None = None) -> Any:
            spelt = _spelt(features[names.CHARACTERS])
            places = tf.minimum(tf.searchsorted(words, tf.reshape(spelt, [-1])), len(words) - 1)
            places = tf.reshape(places, tf.shape(spelt))
            known = tf.gather(tf.constant(words), places) == spelt
            found = tf.where(known[..., tf.newaxis], tf.gather(tf.constant(vectors), places), 0.0)
            return ops.stack([found] * (self.config.layers + 1), axis=1)

    BACKBONES["bilstm"] = WordVectorsBackbone


def _spelt(characters: Any) -> Any:
    """Returns a number of each word, int64 [...], from its characters [..., max_characters]."""
    random = np.random.default_rng(0)
    factors = random.integers(np.iinfo(np.int64).max, size=characters.shape[-1])
    if isinstance(characters, np.ndarray):
        return (characters.astype(np.int64) * factors).sum(-1)
    return tf.reduce_sum(tf.cast(characters, tf.int64) * factors, axis=-1)
