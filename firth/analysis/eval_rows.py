"""Rows of the eval split, chosen by a hash, for showing single sentences."""

import hashlib
import heapq
import os
from collections.abc import Iterator

from firth import features as names, storage
from firth.analysis.held_out import HeldOutRow


def eval_rows(examples_uri: str, count: int, seed: int) -> list[HeldOutRow]:
    """Returns `count` rows of a SequenceGen artifact's eval split, always the same for a seed."""
    return heapq.nsmallest(count, _rows(examples_uri), key=lambda row: _order(seed, row.example_id))


def _order(seed: int, example_id: int) -> bytes:
    return hashlib.blake2b(f"{seed}/{example_id}".encode(), digest_size=8).digest()


def _rows(examples_uri: str) -> Iterator[HeldOutRow]:
    import tensorflow as tf

    from firth.corpus.io.record_files import read_records

    files = storage.glob(os.path.join(examples_uri, "Split-eval", "*"))
    for record in (record for file in files for record in read_records(file)):
        features = tf.train.Example.FromString(record).features.feature
        yield HeldOutRow(
            example_id=features[names.EXAMPLE_ID].int64_list.value[0],
            source=features[names.SOURCE].bytes_list.value[0].decode("utf-8", "replace"),
            tokens=features[names.RAW_TOKENS].int64_list.value,
            sentence_starts=features[names.SENTENCE_STARTS].int64_list.value,
            chunk_lengths=features[names.CHUNK_LENGTHS].int64_list.value,
        )
