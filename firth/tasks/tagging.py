"""Tasks with a tag for each word of a sentence."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features as names
from firth.objectives.transforms.layout import lay_out
from firth.objectives.transforms.pairs import single_segments
from firth.recipes.base.tag_schemes import OUTSIDE
from firth.recipes.tasks.tagging import WORDS_A_TOKEN, Tagging
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.scores import Collected
from firth.tasks.inputs import EncodedRecord, apply_segments, frame_of, inputs_of, specs_of_inputs
from firth.tasks.readers.records import WORDS, LabelledRecord
from firth.tasks.texts import ServedAnswers, key_of, split_rows
from firth.tasks.windows import WordWindows, word_windows
from firth.tasks.word_offsets import pieces_of_words

# The answer for a word that the model did not see, which counts as `O`.
_UNSEEN = -1


class WindowTags(NamedTuple):
    """The tags of the words that a window of a sentence answers for.

    Attributes:
        tags: Tags of the words.
        window: Number of the window, from 0.
        windows: Number of the windows of the sentence.
    """

    tags: tuple[str, ...]
    window: int
    windows: int


class TaggingTask(ServedAnswers):
    """Sentences to rows, and rows to Features, for a tag a word; see `firth.recipes.tasks.tagging.Tagging`.

    A sentence that is longer than a row is read in windows, each of which is a record of a row. A word has
    its answer from the window that holds most of what is around it.
    """

    def __init__(self, config: Tagging, sequences: Sequences, tokenizer: Any) -> None:
        self._config, self._sequences, self._tokenizer = config, sequences, tokenizer
        self.frame = frame_of(tokenizer, config.form.before, (), config.form.after)

    @property
    def room(self) -> int:
        """The most pieces of a window."""
        return self._sequences.length - len(self.frame.ids)

    def encode(self, records: Sequence[LabelledRecord]) -> list[EncodedRecord]:
        """Returns the windows of sentences as tokens. One without any piece is a piece for unknown text.

        Raises:
            ValueError: if a window has more words than a row can hold the tags of.
        """
        words = tf.RaggedTensor.from_row_lengths(
            tf.constant([word for record in records for word in record.texts[WORDS]], tf.string),
            [len(record.texts[WORDS]) for record in records],
        )
        pieces = pieces_of_words(self._tokenizer, words)
        lengths = tf.cast(pieces.tokens.row_lengths(), tf.int32)
        found = word_windows(lengths, pieces.first_places, self.room)
        tokens = found.windows.of(pieces.tokens)
        is_words = pieces.tokens.dtype == tf.string
        ids = split_rows(self._tokenizer.word_ids(tokens) if is_words else tokens)
        read = split_rows(tokens) if is_words else None
        numbers, counts = _numbers(found.windows.owners.numpy())
        cut = (lengths - found.read).numpy()
        answered, starts = _answering(found, words), found.windows.starts.numpy()
        firsts, splits = pieces.first_places.flat_values.numpy(), words.row_splits.numpy()
        made = []
        for window, (text, number) in enumerate(zip(found.windows.owners.numpy(), numbers)):
            own = slice(splits[text], splits[text + 1])
            sentence = _Sentence(records[text], int(counts[text]), int(lengths[text]), int(cut[text]))
            places = np.where(firsts[own] >= 0, firsts[own] - starts[window], -1)
            encoded = self._window(sentence, int(number), ids[window], places, answered[own] == window)
            made.append(self._with_words(encoded, None if read is None else read[window]))
        return made

    def _with_words(self, encoded: EncodedRecord, words: npt.NDArray[Any] | None) -> EncodedRecord:
        if words is None:
            return encoded
        unknown = np.array([self._tokenizer.id_to_token(self._tokenizer.unk_id).encode()], object)
        return encoded._replace(words=(words if len(words) else unknown,))

    def _window(
        self,
        sentence: "_Sentence",
        number: int,
        ids: npt.NDArray[Any],
        places: npt.NDArray[Any],
        is_own: npt.NDArray[np.bool_],
    ) -> EncodedRecord:
        record = sentence.record
        tokens = ids if len(ids) else np.array([self._tokenizer.unk_id], np.int32)
        most = WORDS_A_TOKEN * (len(tokens) + len(self.frame.ids))
        if is_own.sum() > most:
            raise ValueError(
                f"the sentence {record.id!r} has {is_own.sum()} words, of which {len(tokens)} pieces are in "
                f"a row; there can be at most {most} words: make sequences.length greater"
            )
        tags = np.array([self._config.labels.index(tag) for tag in _tags(record)], np.int32) + 1
        is_here = (places >= 0) & (places < len(ids))
        token_labels = np.zeros(len(tokens), np.int32)
        token_labels[places[is_here]] = np.where(is_own, tags, -tags)[is_here]
        labels = {
            names.TOKEN_LABELS: token_labels.tolist(),
            names.WORD_LABELS: np.where(is_here, tags, -tags)[is_own].tolist(),
            names.RECORD_WORDS: [int(is_own.sum())],
        }
        details = {
            "id": str(key_of(record.id)),
            "window": number,
            "windows": sentence.windows,
            "length": sentence.length,
        }
        return EncodedRecord(
            key_of(f"{record.id}\n{number}") if number else key_of(record.id),
            "",
            (tokens,),
            labels,
            0 if number else sentence.cut,
            id=record.id,
            details=json.dumps(details, separators=(",", ":")),
        )

    def specs(self) -> dict[str, names.Spec]:
        """Returns the specs of the Features of one row."""
        length = self._sequences.length
        inputs = specs_of_inputs(self._config.form, length, self._tokenizer.max_characters)
        return {**inputs, **names.label_specs(length)}

    def __call__(self, row: Mapping[str, tf.Tensor], negative: Any, seed: Any) -> dict[str, tf.Tensor]:
        """Returns the Features of a row; nothing in them is random."""
        pad_id, length = self._tokenizer.pad_id, self._sequences.length
        laid_out = lay_out(row, None, single_segments(row), length, self.frame, pad_id)
        layout = apply_segments(laid_out, self._config.form)
        of_tokens = row[names.TOKEN_LABELS]
        # A place without a token of the text reads the padding after the last label.
        labels = tf.gather(tf.pad(of_tokens, [[0, 1]]), tf.minimum(layout.sources, tf.size(of_tokens)))
        return {
            **inputs_of(layout, row, self._config.form, self._tokenizer),
            names.LABEL_IDS: tf.maximum(tf.abs(labels) - 1, 0),
            names.LABEL_WEIGHTS: tf.cast(labels > 0, tf.float32),
        }

    def answers(
        self, row: Mapping[str, tf.Tensor], features: Mapping[str, tf.Tensor], logits: Mapping[str, tf.Tensor]
    ) -> dict[str, tf.Tensor]:
        """Returns the answers that scores are computed from, for the sentences of some rows.

        Args:
            logits: Logits by name of the loss, float32 [batch, length, tags].

        Returns:
            record_keys: int64 [batch, max_documents].
            record_weights: float32 [batch, max_documents], 0 where there is no record.
            record_lengths: int32 [batch, max_documents], pieces of the sentence.
            record_predictions: float32 [batch, max_documents], the sum of the sentence's logits, which is not
                finite if one of them is not.
            record_words: int32 [batch, max_documents], number of words.
            word_labels: int32 [batch, words], number of the tag of each word of all sentences.
            word_predictions: int32 [batch, words], number of its likeliest tag, -1 if no piece was seen.
        """
        (only,) = logits.values()
        lengths, labels = row[names.CHUNK_LENGTHS], row[names.WORD_LABELS]
        # The n-th word that was seen has the n-th place that weighs.
        places = tf.argsort(-features[names.LABEL_WEIGHTS], axis=1, stable=True)
        ranks = tf.maximum(tf.cumsum(tf.cast(labels > 0, tf.int32), axis=1) - 1, 0)
        ranks = tf.minimum(ranks, tf.shape(places)[1] - 1)
        likeliest = tf.argmax(only, axis=2, output_type=tf.int32)
        of_words = tf.gather(likeliest, tf.gather(places, ranks, batch_dims=1), batch_dims=1)
        return {
            names.RECORD_KEYS: row[names.DOCUMENT_KEYS],
            names.RECORD_WEIGHTS: tf.cast(lengths > 0, tf.float32),
            names.RECORD_LENGTHS: lengths,
            names.RECORD_PREDICTIONS: _sums(only, features[names.DOCUMENT_IDS], lengths.shape[1]),
            names.RECORD_WORDS: row[names.RECORD_WORDS],
            names.WORD_LABELS: tf.abs(labels) - 1,
            names.WORD_PREDICTIONS: tf.where(labels > 0, of_words, _UNSEEN),
        }

    @classmethod
    def served_answer(
        cls, config: Tagging, outputs: Sequence[Mapping[str, Any]], source: str
    ) -> tuple[str, ...]:
        """Returns the tags of all words."""
        return tuple(outputs[0]["tags"][: outputs[0]["word_count"]])

    @classmethod
    def collected(
        cls, config: Tagging, outputs: Mapping[str, npt.NDArray[Any]], source: str
    ) -> list[Collected]:
        """Returns the windows of a row with the tags of their words; `joined` makes the sentences of them."""
        ends = np.cumsum(outputs[names.RECORD_WORDS])
        places = np.flatnonzero(outputs[names.RECORD_WEIGHTS])
        details = [json.loads(each) for each in outputs[names.RECORD_DETAILS]]

        def tags(name: str, place: Any) -> tuple[str, ...]:
            numbers = outputs[name][ends[place] - outputs[names.RECORD_WORDS][place] : ends[place]]
            return tuple(OUTSIDE if number == _UNSEEN else config.labels[number] for number in numbers)

        return [
            Collected(
                known["id"],
                tags(names.WORD_LABELS, place),
                WindowTags(tags(names.WORD_PREDICTIONS, place), known["window"], known["windows"]),
                source,
                known["length"],
            )
            for place, known in zip(places, details, strict=True)
        ]

    @staticmethod
    def joined(
        config: Tagging, examples: Sequence[Collected], *, whole: bool = True
    ) -> dict[str, list[Collected]]:
        """Returns the sentences that windows are of, with the tags of all their words, for `firth.scores`.

        Raises:
            ValueError: if a window of a sentence is missing.
        """
        by_sentence: dict[str, list[Collected]] = defaultdict(list)
        for each in examples:
            by_sentence[each.id].append(each)
        return {"examples": list(_sentences(by_sentence, whole))}


class _Sentence(NamedTuple):
    record: LabelledRecord
    windows: int
    length: int
    cut: int


def _numbers(owners: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Returns the number of each window in its text, from 0, and the windows of each text."""
    return np.arange(len(owners)) - np.searchsorted(owners, owners), np.bincount(owners)


def _answering(found: WordWindows, words: tf.RaggedTensor) -> npt.NDArray[np.int64]:
    """Returns the window that answers for each word: of one that none reads, that of the word before it."""
    first = np.searchsorted(found.windows.owners.numpy(), words.value_rowids().numpy())
    return np.maximum.accumulate(np.maximum(found.owners.numpy(), first)) if len(first) else first


def _sentences(by_sentence: Mapping[str, Sequence[Collected]], whole: bool) -> Iterator[Collected]:
    for id, windows in by_sentence.items():
        ordered = sorted(windows, key=lambda each: each.prediction.window)
        count = ordered[0].prediction.windows
        if len(ordered) != count:
            if whole:
                raise ValueError(f"the sentence {id!r} has {len(ordered)} of its {count} windows")
            continue
        right = tuple(tag for each in ordered for tag in each.reference)
        given = tuple(tag for each in ordered for tag in each.prediction.tags)
        yield Collected(id, right, given, ordered[0].source, ordered[0].length)


def _tags(record: LabelledRecord) -> tuple[str, ...]:
    assert isinstance(record.label, tuple)
    return tuple(map(str, record.label))


def _sums(logits: tf.Tensor, document_ids: tf.Tensor, records: int) -> tf.Tensor:
    """Returns float32 [batch, records]; a sum tells an infinite or undefined part where a maximum may not."""
    of_tokens = tf.reduce_sum(logits, axis=2)[:, tf.newaxis]
    own = document_ids[:, tf.newaxis] == tf.range(1, records + 1)[:, tf.newaxis]
    return tf.reduce_sum(tf.where(own, of_tokens, 0.0), axis=2)
