"""Inputs of ELMo next to the ids of words: their characters, and the word before each. NumPy alone."""

import numpy as np

from benchmarks.workers import batches

MAX_CHARACTERS = 50
WORD_BEGINS, WORD_ENDS, UNUSED = 259, 260, 261


def with_words(
    lots: dict[str, list[batches.Features]], texts: list[str], vocabulary: int
) -> dict[str, list[batches.Features]]:
    """Returns lots of a causal language model with `characters` and labels of the other direction added.

    Ids that stand for no word of the texts are replaced by some that do.
    """
    words = {batches.word_id(word, vocabulary): word for text in texts for word in batches.split(text)}
    known = np.array(sorted(words), "int32")
    places = np.full(vocabulary, -1)
    places[known] = np.arange(len(known))
    table = np.stack([np.zeros(MAX_CHARACTERS, "int32"), *(characters(words[each]) for each in known)])
    return {given: [_with_words(lot, known, places, table) for lot in some] for given, some in lots.items()}


def characters(word: str) -> np.ndarray:
    """Returns a word's bytes between two marks, int32 [50].

    Example:

    >>> characters("of")[:5].tolist()
    [259, 112, 103, 260, 261]
    """
    inner = [byte + 1 for byte in word.encode()[: MAX_CHARACTERS - 2]]
    padding = [UNUSED] * (MAX_CHARACTERS - 2 - len(inner))
    return np.array([WORD_BEGINS, *inner, WORD_ENDS, *padding], "int32")


def _with_words(lot, known, places, table):
    ids, documents = lot["token_ids"], lot["document_ids"]
    real = documents > 0
    ids = np.where(real & (places[ids] < 0), known[ids % len(known)], ids)
    preceded = np.zeros(real.shape, bool)
    preceded[:, 1:] = real[:, 1:] & (documents[:, 1:] == documents[:, :-1])
    followed = lot["label_weights"] > 0
    return {
        **lot,
        "token_ids": ids,
        "characters": table[np.where(real, places[ids] + 1, 0)],
        "label_ids": np.roll(ids, -1, axis=1) * followed,
        "backward_label_ids": np.roll(ids, 1, axis=1) * preceded,
        "backward_label_weights": preceded.astype("float32"),
    }
