"""Tasks with a tag for each word of a sentence."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features as names
from firth.objectives.transforms.layout import lay_out
from firth.objectives.transforms.pairs import single_segments
from firth.recipes.tasks.tagging import OUTSIDE, WORDS_A_TOKEN, Tagging
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.scores import Collected
from firth.tasks.encoded import EncodedRecord
from firth.tasks.inputs import frame_of, inputs_of, specs_of_inputs, told_segments
from firth.tasks.readers.records import WORDS, LabelledRecord
from firth.tasks.texts import collect, key_of
from firth.tasks.words import pieces_of_words

# The answer for a word that the model did not see, which counts as `O`.
_UNSEEN = -1


class TaggingTask:
    """Sentences to rows, and rows to Features, for a tag a word; see `firth.recipes.tasks.tagging.Tagging`.

    Args:
        config: The recipe's `task`.
        sequences: The recipe's `sequences`.
        tokenizer: Tokenizer of the base.
    """

    def __init__(self, config: Tagging, sequences: Sequences, tokenizer: Any) -> None:
        self._config, self._sequences, self._tokenizer = config, sequences, tokenizer
        self.frame = frame_of(tokenizer, config.form.before, (), config.form.after)

    @property
    def room(self) -> int:
        """The most pieces of a sentence."""
        return self._sequences.length - len(self.frame.ids)

    def encode(self, records: Sequence[LabelledRecord]) -> list[EncodedRecord]:
        """Returns sentences as tokens, cut to fit a row. One without any piece is a piece for unknown text.

        Args:
            records: Records of words with their tags.

        Raises:
            ValueError: if a sentence has more words than a row can hold the tags of.
        """
        words = tf.RaggedTensor.from_row_lengths(
            tf.constant([word for record in records for word in record.texts[WORDS]], tf.string),
            [len(record.texts[WORDS]) for record in records],
        )
        pieces = pieces_of_words(self._tokenizer, words, self.room)
        splits = zip(pieces.ids.row_splits.numpy(), pieces.ids.row_splits.numpy()[1:])
        word_splits = zip(words.row_splits.numpy(), words.row_splits.numpy()[1:])
        tokens = pieces.ids if pieces.words is None else self._tokenizer.word_ids(pieces.words)
        ids, places = tokens.flat_values.numpy(), pieces.first_places.flat_values.numpy()
        read = None if pieces.words is None else pieces.words.flat_values.numpy()
        parts = zip(records, splits, word_splits, pieces.cut.numpy(), strict=True)
        return [
            self._with_words(
                self._encoded(record, ids[slice(*of_pieces)], places[slice(*of_words)], int(cut)),
                None if read is None else read[slice(*of_pieces)],
            )
            for record, of_pieces, of_words, cut in parts
        ]

    def _with_words(self, encoded: EncodedRecord, words: npt.NDArray[Any] | None) -> EncodedRecord:
        if words is None:
            return encoded
        unknown = np.array([self._tokenizer.id_to_token(self._tokenizer.unk_id).encode()], object)
        return encoded._replace(words=(words if len(words) else unknown,))

    def _encoded(
        self, record: LabelledRecord, ids: npt.NDArray[Any], places: npt.NDArray[Any], cut: int
    ) -> EncodedRecord:
        tokens = ids if len(ids) else np.array([self._tokenizer.unk_id], np.int32)
        most = WORDS_A_TOKEN * (len(tokens) + len(self.frame.ids))
        if len(places) > most:
            raise ValueError(
                f"the sentence {record.id!r} has {len(places)} words, of which {len(tokens)} pieces are in a "
                f"row; there can be at most {most} words: make sequences.length greater"
            )
        tags = np.array([self._config.labels.index(tag) for tag in _tags(record)], np.int32) + 1
        token_labels = np.zeros(len(tokens), np.int32)
        token_labels[places[places >= 0]] = tags[places >= 0]
        labels = {
            names.TOKEN_LABELS: token_labels.tolist(),
            names.WORD_LABELS: np.where(places >= 0, tags, -tags).tolist(),
            names.RECORD_WORDS: [len(places)],
        }
        return EncodedRecord(key_of(record.id), "", (tokens,), labels, cut, id=record.id)

    def specs(self) -> dict[str, names.Spec]:
        """Returns the specs of the Features of one row."""
        length = self._sequences.length
        inputs = specs_of_inputs(self._config.form, length, self._tokenizer.max_characters)
        return {**inputs, **names.label_specs(length)}

    def __call__(self, row: Mapping[str, tf.Tensor], negative: Any, seed: Any) -> dict[str, tf.Tensor]:
        """Returns the Features of a row; nothing in them is random.

        Args:
            row: Tensors of one row, as `row_specs` of the task.
            negative: Not read.
            seed: Not read.
        """
        pad_id, length = self._tokenizer.pad_id, self._sequences.length
        laid_out = lay_out(row, None, single_segments(row), length, self.frame, pad_id)
        layout = told_segments(laid_out, self._config.form)
        of_tokens = row[names.TOKEN_LABELS]
        # A place without a token of the text reads the padding after the last label.
        labels = tf.gather(tf.pad(of_tokens, [[0, 1]]), tf.minimum(layout.sources, tf.size(of_tokens)))
        return {
            **inputs_of(layout, row, self._config.form, self._tokenizer),
            names.LABEL_IDS: tf.maximum(labels - 1, 0),
            names.LABEL_WEIGHTS: tf.cast(labels > 0, tf.float32),
        }

    def answers(
        self, row: Mapping[str, tf.Tensor], features: Mapping[str, tf.Tensor], logits: Mapping[str, tf.Tensor]
    ) -> dict[str, tf.Tensor]:
        """Returns the answers that scores are computed from, for the sentences of some rows.

        Args:
            row: Rows, batched.
            features: Features of the rows.
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
    def collected(
        cls, config: Tagging, outputs: Mapping[str, npt.NDArray[Any]], source: str
    ) -> list[Collected]:
        """Returns the sentences of a row with the tags of all their words, for `firth.scores`.

        Args:
            config: The recipe's `task`.
            outputs: What `answers` returns, of one row.
            source: Source of the row.
        """
        ends = np.cumsum(outputs[names.RECORD_WORDS])

        def tags(name: str, place: int) -> tuple[str, ...]:
            numbers = outputs[name][ends[place] - outputs[names.RECORD_WORDS][place] : ends[place]]
            return tuple(OUTSIDE if number == _UNSEEN else config.labels[number] for number in numbers)

        parts = names.WORD_LABELS, names.WORD_PREDICTIONS
        return collect(outputs, source, lambda place: (tags(parts[0], place), tags(parts[1], place)))


def _tags(record: LabelledRecord) -> tuple[str, ...]:
    assert isinstance(record.label, tuple)
    return tuple(map(str, record.label))


def _sums(logits: tf.Tensor, document_ids: tf.Tensor, records: int) -> tf.Tensor:
    """Returns float32 [batch, records]; a sum tells an infinite or undefined part where a maximum may not."""
    of_tokens = tf.reduce_sum(logits, axis=2)[:, tf.newaxis]
    own = document_ids[:, tf.newaxis] == tf.range(1, records + 1)[:, tf.newaxis]
    return tf.reduce_sum(tf.where(own, of_tokens, 0.0), axis=2)
