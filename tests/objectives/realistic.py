"""Rows as the corpus packs them, of documents and sentences as long as real ones are."""

import numpy as np

from firth import features
from firth.corpus.packing.row_packing import pack_rows
from firth.corpus.packing.tokenization import TokenizedDocument
from firth.recipes.tokenizers.tokenizer import Sequences
from tests.objectives.rows import row


def documents(count: int, median: int, seed: int = 0) -> list[TokenizedDocument]:
    """Documents of whole sentences, with a long tail of both: some have one sentence, some fill many rows.

    Args:
        count: Of the documents.
        median: Tokens of a document.
        seed: Of the draws.
    """
    rng = np.random.default_rng(seed)
    return [_document(rng, number + 1, rng.lognormal(np.log(median), 1.2)) for number in range(count)]


def _document(rng, key, wanted) -> TokenizedDocument:
    # Some texts have shorter sentences than others.
    middle = rng.lognormal(np.log(20), 0.3)
    lengths = np.maximum(rng.lognormal(np.log(middle), 0.6, 1 + int(wanted / middle)), 3).astype(int)
    size, starts = int(lengths.sum()), np.zeros(int(lengths.sum()), bool)
    starts[np.cumsum(lengths)[:-1]] = starts[0] = True
    words = starts | (rng.random(size) < 0.75)
    return TokenizedDocument(key, "made", np.full(size, 9, np.int32), words, starts)


def packed(texts, length: int, special_tokens: int, max_documents: int, **settings):
    """The rows of some documents, stacked, as they stand in memory."""
    sequences = Sequences(length=length, max_documents=max_documents, **settings)
    raw_length = length - special_tokens
    rows, _ = pack_rows(texts, sequences, special_tokens, raw_length)
    made = [
        row(
            each.lists[features.RAW_TOKENS],
            each.lists[features.CHUNK_LENGTHS],
            each.lists[features.DOCUMENT_KEYS],
            raw_length,
            max_documents,
            each.lists[features.WORD_STARTS],
            each.lists[features.SENTENCE_STARTS],
        )
        for each in rows
    ]
    return {name: np.stack([each[name] for each in made]) for name in made[0]}
