"""Targets that a model cannot learn to write as they are: unknown pieces, lost line ends, too many pieces."""

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from firth.corpus.documents.batching import split_into_batches
from firth.recipes.tasks.task import Task
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tasks.readers.records import LabelledRecord

_BATCH, _SHOWN, _LONGEST = 1000, 3, 40


class TargetsError(ValueError):
    """Targets that the vocabulary of the base cannot write."""


@dataclasses.dataclass
class TargetCounts:
    """The targets of some records.

    Attributes:
        targets: Number of targets.
        pieces: Number of their pieces.
        unknown_pieces: Number of the pieces for text that the vocabulary lacks.
        with_unknown: Number of targets with such pieces.
        examples: The first of these targets, each as the id of its record and the start of its text.
        line_ends: Number of targets with line ends, where the tokenizer has none.
        cut: Number of targets that are longer than there is room for.
        room: Most pieces of a target.
        room_key: Key of the recipe that says it.
    """

    targets: int = 0
    pieces: int = 0
    unknown_pieces: int = 0
    with_unknown: int = 0
    examples: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    line_ends: int = 0
    cut: int = 0
    room: int = 0
    room_key: str = ""

    @property
    def unknown_share(self) -> float:
        """The share of the pieces that are unknown; 0 of no targets."""
        return self.unknown_pieces / self.pieces if self.pieces else 0.0

    def sentences(self, split: str) -> list[str]:
        """Returns the losses of the targets, a sentence each; none if all can be written."""
        of = f"of {self.targets:,} targets of {split}"
        said = []
        if self.with_unknown:
            said.append(
                f"{self.with_unknown:,} {of} have text that the vocabulary lacks, "
                f"{self.unknown_share:.1%} of all pieces: {self._shown}"
            )
        if self.line_ends:
            said.append(f"{self.line_ends:,} {of} have line ends, which the tokenizer loses: none is written")
        if self.cut:
            said.append(
                f"{self.cut:,} {of} have more than {self.room:,} pieces, and lose the rest: {self.room_key}"
            )
        return said

    @property
    def _shown(self) -> str:
        return ", ".join(f"{text!r} ({id})" for id, text in self.examples)


def count_targets(
    task: Task, sequences: Sequences, tokenizer: Any, records: Iterable[LabelledRecord]
) -> TargetCounts:
    """Returns the counts of the targets of some records; of a task that writes no text, none."""
    room, key = task.most_written(sequences)
    counts = TargetCounts(room=room, room_key=key)
    keeps_lines = None
    targets = ((each.id, text) for each in records for text in task.targets_of(each.texts, each.label))
    for batch in filter(None, split_into_batches(targets, _BATCH)):
        if keeps_lines is None:
            keeps_lines = _keeps_lines(tokenizer)
        ids = tokenizer.tokenize([text for _, text in batch])
        lengths = ids.row_lengths().numpy()
        unknown = np.add.reduceat(
            np.append(ids.flat_values.numpy() == tokenizer.unk_id, False), ids.row_starts().numpy()
        ) * (lengths > 0)
        counts.targets += len(batch)
        counts.pieces += int(lengths.sum())
        counts.unknown_pieces += int(unknown.sum())
        counts.with_unknown += int((unknown > 0).sum())
        counts.cut += int((lengths > room).sum())
        counts.line_ends += 0 if keeps_lines else sum("\n" in text.strip() for _, text in batch)
        for place in np.flatnonzero(unknown)[: _SHOWN - len(counts.examples)]:
            counts.examples.append((batch[place][0], batch[place][1][:_LONGEST]))
    return counts


def check_targets(counts: TargetCounts, limit: float) -> None:
    """Checks that the vocabulary can write the targets to train on."""
    if counts.unknown_share > limit:
        raise TargetsError(
            f"the vocabulary of the base cannot write the targets: {counts.sentences('train')[0]}; at most "
            f"{limit:.1%} are taken (validation.unknown_targets)"
        )


def _keeps_lines(tokenizer: Any) -> bool:
    return b"\n" in tokenizer.detokenize(tokenizer.tokenize(["a\nb"])).numpy()[0]
