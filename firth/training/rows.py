"""The rows of a split, on disk in fixed-width arrays, for random access in bounded memory."""

import contextlib
import dataclasses
import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from firth import features, storage
from firth.recipes.goals.goal import Goal
from firth.recipes.tokenizers.tokenizer import Sequences

# Dtypes on disk by field; other fields have those of their specs. The starts are flags, so a byte is enough.
_DTYPES = {
    features.EXAMPLE_ID: np.int64,
    features.RAW_TOKENS: np.int32,
    features.WORD_STARTS: np.uint8,
    features.SENTENCE_STARTS: np.uint8,
    features.CHUNK_LENGTHS: np.int32,
    features.DOCUMENT_KEYS: np.int64,
    features.CHARACTERS: np.int16,
}
_BLOCK = 4096


class RowsError(ValueError):
    """Rows that cannot be trained on: none, malformed ones, or ones made for another recipe."""


@dataclasses.dataclass(frozen=True)
class RowLimits:
    """Limits of the rows of a recipe.

    Attributes:
        specs: Specs of a row; `row_specs` of the goal.
        special_tokens: Number of special tokens of each document.
        vocabulary_size: Upper bound of token ids, exclusive.
        texts: Number of chunks of a document; above 1 for records of several texts.
    """

    specs: Mapping[str, features.Spec]
    special_tokens: int
    vocabulary_size: int
    texts: int = 1

    @classmethod
    def of(cls, goal: Goal, sequences: Sequences, vocabulary_size: int, max_characters: int) -> "RowLimits":
        """Returns the limits of the rows that a model is trained on."""
        specs = goal.row_specs(sequences, max_characters)
        return cls(specs, goal.special_tokens, vocabulary_size, goal.texts)

    @property
    def raw_length(self) -> int:
        """Most tokens of a row of one document, without special ones."""
        return self.specs[features.RAW_TOKENS].shape[0]

    @property
    def capacity(self) -> int:
        """Most tokens of a row together with the room that its documents take."""
        return self.raw_length + self.special_tokens

    @property
    def max_chunks(self) -> int:
        """Most chunks of a row."""
        return self.specs[features.CHUNK_LENGTHS].shape[0]

    @property
    def max_documents(self) -> int:
        """Most documents of a row."""
        return self.max_chunks // self.texts

    @property
    def max_characters(self) -> int:
        """Characters of a word, if rows hold words; otherwise 0."""
        characters = self.specs.get(features.CHARACTERS)
        return characters.shape[1] if characters else 0

    @property
    def labels(self) -> dict[str, features.Spec]:
        """The specs of the fields other than the texts."""
        return {name: spec for name, spec in self.specs.items() if name not in _DTYPES}


@dataclasses.dataclass(frozen=True)
class Rows:
    """Rows in the order of their example ids, whatever order the files had.

    Attributes:
        specs: Specs of the rows; `row_specs` of the goal.
        digest: Hash of everything in the rows, in hex; the order and number of files do not matter.
    """

    specs: Mapping[str, features.Spec]
    digest: str
    _arrays: dict[str, npt.NDArray[Any]]
    _order: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self._order)

    def take(self, indices: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[Any]]:
        """Returns some rows, stacked: [n, ...] for each field."""
        places = self._order[np.asarray(indices)]
        return {
            name: np.asarray(array[places]).astype(self.specs[name].dtype, copy=False)
            for name, array in self._arrays.items()
        }

    def take_field(self, name: str, indices: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """Returns one field of some rows, [n, ...]."""
        return np.asarray(self._arrays[name][self._order[np.asarray(indices)]])

    def blocks(self) -> Iterator[dict[str, npt.NDArray[Any]]]:
        """Yields the rows block by block, in order, as `take` does."""
        for start in range(0, len(self), _BLOCK):
            yield self.take(np.arange(start, min(start + _BLOCK, len(self))))


def count_documents(rows: Rows) -> int:
    """Returns the number of documents in rows: consecutive parts of one count once."""
    total = 0
    for start in range(0, len(rows), _BLOCK):
        block = np.arange(start, min(start + _BLOCK, len(rows)))
        keys = rows.take_field(features.DOCUMENT_KEYS, block)
        before = np.pad(keys[:, :-1], [(0, 0), (1, 0)])
        total += int(((keys != before) & (keys != 0)).sum())
    return total


def count_pieces(rows: Rows, vocabulary_size: int) -> npt.NDArray[Any]:
    """Returns the occurrences of each piece in the rows, int64 [vocabulary_size].

    Special tokens that an objective puts in are not in the rows, and padding is not counted.

    Args:
        rows: Rows of the training split.
        vocabulary_size: Number of rows of the model's vocabulary.
    """
    counts = np.zeros(vocabulary_size, np.int64)
    for block in rows.blocks():
        lengths = block[features.CHUNK_LENGTHS].sum(axis=1)
        tokens = block[features.RAW_TOKENS]
        real = np.arange(tokens.shape[1]) < lengths[:, np.newaxis]
        counts += np.bincount(tokens[real], minlength=vocabulary_size)
    return counts


class RowsWriter:
    """Appends blocks of rows to files in a local directory, which `load_rows` can read after `finish`."""

    def __init__(self, directory: str, specs: Mapping[str, features.Spec]) -> None:
        self._directory, self._specs = directory, specs
        self._files = {name: open(_path(directory, name), "wb") for name in specs}  # noqa: SIM115
        self._ids: list[npt.NDArray[Any]] = []

    def __enter__(self) -> "RowsWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for file in self._files.values():
            # A full disk fails at the close again; only the first error is raised.
            with contextlib.suppress(OSError) if kind else contextlib.nullcontext():
                file.close()

    def append(self, block: dict[str, npt.NDArray[Any]]) -> None:
        """Appends rows.

        Args:
            block: Arrays [n, ...] by field, padded to the specs' shapes.
        """
        for name, file in self._files.items():
            file.write(np.ascontiguousarray(block[name], _dtype(name, self._specs)).tobytes())
        self._ids.append(np.asarray(block[features.EXAMPLE_ID], np.int64))

    def append_part(self, folder: str) -> None:
        """Appends all rows that another writer has appended to files in a folder of its own, in its order."""
        for name, file in self._files.items():
            with storage.open_file(_path(folder, name)) as part:
                shutil.copyfileobj(part, file)
        with storage.open_file(_path(folder, features.EXAMPLE_ID)) as ids:
            self._ids.append(np.frombuffer(ids.read(), np.int64))

    def finish(self) -> None:
        """Sorts by example id and writes the digest.

        Raises:
            RowsError: if there are no rows, or two of the same example id.
        """
        for file in self._files.values():
            file.close()
        ids = np.concatenate([np.zeros(0, np.int64), *self._ids])
        order = np.argsort(ids, kind="stable")
        _check_ids(ids[order])
        np.save(_path(self._directory, "order", ".npy"), order)
        rows = _open(self._directory, self._specs, "")
        storage.write_json(
            _path(self._directory, "rows", ".json"), {"rows": len(rows), "digest": _digest(rows)}
        )


def load_rows(directory: str, specs: Mapping[str, features.Spec]) -> Rows:
    """Returns the rows that a `RowsWriter` finished in `directory`, memory-mapped."""
    return _open(directory, specs, storage.read_json(_path(directory, "rows", ".json"))["digest"])


def _open(directory: str, specs: Mapping[str, features.Spec], digest: str) -> Rows:
    order = np.load(_path(directory, "order", ".npy"), mmap_mode="r")
    arrays: dict[str, npt.NDArray[Any]] = {
        name: np.memmap(_path(directory, name), _dtype(name, specs), "r", shape=(len(order), *spec.shape))
        for name, spec in specs.items()
    }
    return Rows(specs, digest, arrays, order)


def _check_ids(ids: npt.NDArray[np.int64]) -> None:
    if not len(ids):
        raise RowsError("the training split holds no rows")
    repeated = ids[1:][ids[1:] == ids[:-1]]
    if len(repeated):
        raise RowsError(f"example id {repeated[0]} occurs more than once in the training split")


def _digest(rows: Rows) -> str:
    digest = hashlib.sha256(repr(sorted(rows.specs.items())).encode())
    for block in rows.blocks():
        for name in sorted(block):
            digest.update(np.ascontiguousarray(block[name]).tobytes())
    return digest.hexdigest()


def _dtype(name: str, specs: Mapping[str, features.Spec]) -> Any:
    return _DTYPES.get(name, specs[name].dtype)


def _path(directory: str, name: str, suffix: str = ".bin") -> str:
    return os.path.join(directory, name + suffix)
