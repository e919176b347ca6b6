"""Dialogues, of which the replies are learned."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features as names
from firth.objectives.transforms.documents import next_tokens
from firth.objectives.transforms.layout import Frame, lay_out
from firth.objectives.transforms.pairs import single_segments
from firth.recipes.tasks.dialogue import Dialogue
from firth.recipes.tokenizers.chat_template import SYSTEM
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.scores import Collected
from firth.scores.replies import ReplyPieces
from firth.tasks.inputs import EncodedRecord
from firth.tasks.readers.records import MESSAGES, LabelledRecord
from firth.tasks.texts import ServedAnswers, collect, key_of, texts_by_schema
from firth.tokenizers.chat import Chat, EncodedDialogue, Message, drop_oldest
from firth.tokenizers.storage import apply_template

# The reason for a record whose last turns alone leave no room for a reply.
TOO_LONG = "too_long"


class DialogueTask(ServedAnswers):
    """Dialogues to rows, and rows to Features; see `firth.recipes.tasks.dialogue.Dialogue`."""

    written_output = "reply"

    def __init__(self, config: Dialogue, sequences: Sequences, tokenizer: Any) -> None:
        self._config, self._sequences, self._tokenizer = config, sequences, tokenizer

    def encode(self, records: Sequence[LabelledRecord]) -> list[EncodedRecord]:
        """Returns dialogues as tokens, without the oldest turns where they are longer than a row."""
        chat = Chat(self._tokenizer)
        kept = [_messages(each) for each in records]
        made = chat.encode(kept)
        full = [len(each.ids) for each in made]
        longer = self._too_long(kept, made)
        while longer:
            for place in longer:
                kept[place] = drop_oldest(kept[place])
            for place, again in zip(longer, chat.encode([kept[place] for place in longer]), strict=True):
                made[place] = again
            longer = self._too_long(kept, made)
        return [self._record(*each) for each in zip(records, made, full, strict=True)]

    def _too_long(self, kept: Sequence[Sequence[Message]], made: Sequence[EncodedDialogue]) -> list[int]:
        """Returns the places of the dialogues that do not fit, and that have turns to leave out."""
        return [
            place
            for place, (messages, encoded) in enumerate(zip(kept, made, strict=True))
            if len(encoded.ids) > self._sequences.length and len(drop_oldest(messages)) > 1
        ]

    def _record(self, record: LabelledRecord, made: EncodedDialogue, full: int) -> EncodedRecord:
        room = self._sequences.length
        ids, learned = made.ids[:room], self._learned(made)[:room]
        return EncodedRecord(
            key=key_of(record.id),
            source="",
            chunks=(ids,),
            labels={names.REPLY_TOKENS: learned.astype(np.int32).tolist()},
            cut=full - len(ids),
            id=record.id,
            rejected="" if learned.any() else TOO_LONG,
            details=self._asked(record),
        )

    def _asked(self, record: LabelledRecord) -> str:
        """Returns the turns before the last reply as JSON, where a schema needs it to be written."""
        if self._config.text_schema is None:
            return ""
        return json.dumps(_messages(record)[:-1], ensure_ascii=False)

    def _learned(self, made: EncodedDialogue) -> npt.NDArray[np.bool_]:
        """Returns which tokens are learned: of all replies, or of the last."""
        if self._config.replies == "all":
            return made.is_written
        given = np.flatnonzero(~made.is_written[: np.flatnonzero(made.is_written)[-1]])
        return made.is_written & (np.arange(len(made.ids)) > (given[-1] if len(given) else -1))

    def specs(self) -> dict[str, names.Spec]:
        """Returns the specs of the Features of one row."""
        length = self._sequences.length
        return {**names.encoder_specs(length, segments=False, order=True), **names.label_specs(length)}

    def __call__(self, row: Mapping[str, tf.Tensor], negative: Any, seed: Any) -> dict[str, tf.Tensor]:
        """Returns the Features of a row; nothing in them is random."""
        length, pad_id = self._sequences.length, self._tokenizer.pad_id
        layout = lay_out(row, None, single_segments(row), length, Frame(), pad_id)
        following, exists = next_tokens(layout.token_ids, layout.document_ids)
        own = row[names.REPLY_TOKENS] * tf.cast(layout.document_ids > 0, tf.int32)
        learned = tf.roll(own, -1, 0) * tf.cast(exists, tf.int32)
        # The tokens before the first learned one are a prefix.
        so_far, starts = tf.cumsum(own), tf.gather(layout.starts, tf.maximum(layout.document_ids - 1, 0))
        after_first = so_far > tf.gather(so_far - own, starts)
        return {
            **layout.encoder_features(segments=False),
            names.ATTENTION_ORDER: tf.where(after_first, layout.position_ids, 0),
            names.LABEL_IDS: tf.where(learned > 0, following, 0),
            names.LABEL_WEIGHTS: tf.cast(learned, tf.float32),
        }

    def answers_of_losses(
        self,
        row: Mapping[str, tf.Tensor],
        features: Mapping[str, tf.Tensor],
        losses: tf.Tensor,
        by_frequency: tf.Tensor,
        is_text: tf.Tensor,
    ) -> dict[str, tf.Tensor]:
        """Returns the numbers from which scores are computed, for the records of some rows.

        Args:
            losses: Loss of the token that each place predicts, float32 [batch, length].
            by_frequency: Its loss by the frequencies of tokens alone, float32 [batch, length].
            is_text: 1.0 where it represents text, and 0.0 for special tokens, [batch, length].

        Returns:
            record_keys: int64 [batch, max_documents].
            record_weights: float32 [batch, max_documents], 0 where there is no record.
            record_lengths: int32 [batch, max_documents], tokens of the dialogue.
            record_predictions: float32 [batch, max_documents, 3]: log probability of the pieces of replies,
                number of pieces, and log probability by frequency.
        """
        lengths = row[names.CHUNK_LENGTHS]
        of_record = tf.one_hot(features[names.DOCUMENT_IDS] - 1, lengths.shape[1])
        weights = features[names.LABEL_WEIGHTS] * is_text
        values = tf.stack([-losses * weights, weights, -by_frequency * weights], axis=2)
        return {
            names.RECORD_KEYS: row[names.DOCUMENT_KEYS],
            names.RECORD_WEIGHTS: tf.cast(lengths > 0, tf.float32),
            names.RECORD_LENGTHS: lengths,
            names.RECORD_PREDICTIONS: tf.matmul(of_record, values, transpose_a=True),
        }

    @classmethod
    def collected(cls, config: Any, outputs: Mapping[str, npt.NDArray[Any]], source: str) -> list[Collected]:
        """Returns the records of a row with the log probabilities of their replies, for `firth.scores`."""

        def answer(place: int) -> tuple[Any, Any]:
            probability, pieces, by_frequency = outputs[names.RECORD_PREDICTIONS][place].tolist()
            return ReplyPieces(int(pieces), by_frequency), probability

        return collect(outputs, source, answer)

    @classmethod
    def baselines(
        cls, config: Any, outputs: Mapping[str, npt.NDArray[Any]], source: str
    ) -> dict[str, list[Collected]]:
        """Returns the records of a row with the replies that were written to be scored by a schema."""
        return texts_by_schema(cls.collected(config, outputs, source), outputs)

    @classmethod
    def end_of(cls, config: Dialogue, tokenizer: Any) -> int:
        """Returns the id of the token that ends a reply."""
        return Chat(apply_template(tokenizer, config)).end_id

    @classmethod
    def asked_texts(cls, record: LabelledRecord, roles: Sequence[str]) -> tuple[Any, ...]:
        """Returns the turns of a dialogue, and its instructions."""
        turns: Any = record.texts[MESSAGES]
        speakers: Any = record.label
        first = int(speakers[0] == SYSTEM)
        return tuple(turns[first:]), turns[0] if first else ""

    @classmethod
    def served_answer(cls, config: Any, outputs: Sequence[Mapping[str, Any]], source: str) -> Any:
        """Returns the log probability of the replies."""
        return float(outputs[0]["log_probability"])

    @classmethod
    def served_numbers(cls, config: Any, outputs: Sequence[Mapping[str, Any]]) -> npt.NDArray[Any]:
        """Returns the log probability of the replies, and the number of their pieces."""
        return np.array([outputs[0]["log_probability"], outputs[0]["token_count"]])

    @classmethod
    def is_read_alike(cls, outputs: Sequence[Mapping[str, Any]], tokens: int | None) -> bool:
        """Returns True: a dialogue is cut where its row is, and another cut is another answer."""
        return True


def _messages(record: LabelledRecord) -> list[Message]:
    speakers: Any = record.label
    contents = record.texts[MESSAGES]
    return [
        {"role": speaker, "content": content} for speaker, content in zip(speakers, contents, strict=True)
    ]
