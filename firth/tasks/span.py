"""Questions on texts: windows as rows, rows as Features, and the answers that are cut from the texts."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features as names
from firth.recipes.tasks.span import SpanAnswering
from firth.scores import Collected, ScoredAnswer, best_threshold
from firth.tasks.inputs import EncodedRecord
from firth.tasks.readers.records import CONTEXT, QUESTION, AnswerSpan, LabelledRecord
from firth.tasks.texts import TextsTask, key_of, split_rows
from firth.tasks.windows import (
    PlacedPieces,
    Windows,
    place_pieces,
    question_pieces,
    read_windows,
)


class WindowAnswer(NamedTuple):
    """The answer of a window to its question.

    Attributes:
        no_answer: Score of having no answer, a sum of two logits.
        score: Score of the best answer, such a sum; `NO_SPAN` if no answer fits.
        answer: The best answer, cut from the text.
        windows: Number of the windows of the question.
    """

    no_answer: float
    score: float
    answer: str
    windows: int


class SpanTask(TextsTask):
    """A part of a text as the answer to a question; see `firth.recipes.tasks.span.SpanAnswering`."""

    def encode(self, records: Sequence[LabelledRecord]) -> list[EncodedRecord]:
        """Returns the windows of questions as tokens, each with its question."""
        config = self._config
        questions, cut = question_pieces(
            self._tokenizer, _column(records, QUESTION), most_question(config, self.room)
        )
        contexts, owners = _distinct(records, CONTEXT)
        pieces = PlacedPieces(*(tf.gather(each, owners) for each in self._placed(contexts)))
        lengths = tf.cast(pieces.ids.row_lengths(), tf.int32)
        rooms = self.room - tf.cast(questions.row_lengths(), tf.int32)
        # As many windows as are served.
        windows, read = read_windows(lengths, rooms, config.stride)
        unread = cut.numpy() + (lengths - read).numpy()
        of_questions = [_Question(*each) for each in zip(records, split_rows(questions), unread, strict=True)]
        return list(_encoded(of_questions, windows, pieces))

    def _placed(self, contexts: Sequence[str]) -> PlacedPieces:
        return place_pieces(self._tokenizer, tf.constant(contexts, tf.string))

    def specs(self) -> dict[str, names.Spec]:
        """Returns the specs of the Features of one row."""
        encoder = names.encoder_specs(self._sequences.length, segments=self._config.form.has_segments)
        return {**encoder, **names.span_specs(self._sequences.max_documents)}

    def __call__(self, row: Mapping[str, tf.Tensor], negative: Any, seed: Any) -> dict[str, tf.Tensor]:
        """Returns the Features of a row; nothing in them is random."""
        layout, lengths = self.laid_out(row)
        nowhere = self._pooled(layout, lengths)
        begins = self._begins(row, layout.starts)

        def places(name: str) -> tf.Tensor:
            return tf.where(row[name] > 0, begins + row[name] - 1, nowhere)

        return {
            **layout.encoder_features(self._config.form.has_segments),
            names.POOLED_POSITIONS: nowhere,
            names.START_LABELS: places(names.SPAN_STARTS),
            names.END_LABELS: places(names.SPAN_ENDS),
            names.RECORD_WEIGHTS: tf.cast(lengths > 0, tf.float32),
        }

    def _begins(self, row: Mapping[str, tf.Tensor], starts: tf.Tensor) -> tf.Tensor:
        """Returns the place of each window's first piece, after the question of its record."""
        return starts + row[names.CHUNK_LENGTHS][..., ::2] + len(self.frame.before) + len(self.frame.between)

    def answers(
        self, row: Mapping[str, tf.Tensor], features: Mapping[str, tf.Tensor], logits: Mapping[str, tf.Tensor]
    ) -> dict[str, tf.Tensor]:
        """Returns the answers that scores are computed from, for the windows of some rows.

        Args:
            logits: Logits `start` and `end`, float32 [batch, max_documents, length].

        Returns:
            record_keys: int64 [batch, max_documents].
            record_weights: float32 [batch, max_documents], 0 where there is no window.
            record_predictions: float32 [batch, max_documents, 2], the score of having no answer, and that of
                the best answer; not finite if a logit is not.
            predicted_starts, predicted_ends: int32 [batch, max_documents], places of the first and the last
                piece of the best answer among those of the window.
        """
        lengths = row[names.CHUNK_LENGTHS]
        tokens = lengths[:, ::2] + lengths[:, 1::2]
        blocks = tf.where(tokens > 0, tokens + len(self.frame.ids), 0)
        begins = self._begins(row, tf.cumsum(blocks, axis=1, exclusive=True))
        nowhere = features[names.POOLED_POSITIONS]
        found = answers_of(self._config, logits, nowhere, begins, lengths[:, 1::2], count=1)
        return {
            names.RECORD_KEYS: row[names.DOCUMENT_KEYS][:, ::2],
            names.RECORD_WEIGHTS: features[names.RECORD_WEIGHTS],
            names.RECORD_PREDICTIONS: tf.concat([found.no_answer[..., tf.newaxis], found.score], axis=-1),
            names.PREDICTED_STARTS: found.start[..., 0],
            names.PREDICTED_ENDS: found.end[..., 0],
        }

    @classmethod
    def served_answer(cls, config: Any, outputs: Sequence[Mapping[str, Any]], source: str) -> str:
        """Returns the best answer, empty for none."""
        return str(outputs[0]["answer"])

    @classmethod
    def collected(cls, config: Any, outputs: Mapping[str, npt.NDArray[Any]], source: str) -> list[Collected]:
        """Returns the windows of a row, each with its best answer; `joined` makes the questions of them."""
        places = np.flatnonzero(outputs[names.RECORD_WEIGHTS])
        details = [json.loads(each) for each in outputs[names.RECORD_DETAILS]]
        found = []
        for place, known in zip(places, details, strict=True):
            no_answer, score = map(float, outputs[names.RECORD_PREDICTIONS][place])
            first, last = (
                int(outputs[name][place]) for name in (names.PREDICTED_STARTS, names.PREDICTED_ENDS)
            )
            characters = known["places"]
            text = known["text"][characters[2 * first] : characters[2 * last + 1]]
            answer = text if score > NO_SPAN else ""
            made = WindowAnswer(no_answer, score, answer, known["windows"])
            found.append(Collected(known["id"], tuple(known["answers"]), made, source, known["length"]))
        return found

    @staticmethod
    def joined(
        config: SpanAnswering, examples: Sequence[Collected], *, whole: bool = True
    ) -> dict[str, list[Collected]]:
        """Returns the questions that windows are of, in the forms that scores take.

        The best answer of all windows is taken, and having no answer is as likely as where it is least so.
        """
        by_question: dict[str, list[Collected]] = defaultdict(list)
        for each in examples:
            by_question[each.id].append(each)
        answers: list[Collected] = []
        scored: list[Collected] = []
        for id, windows in by_question.items():
            best = max((each.prediction for each in windows), key=lambda made: (made.score, made.answer))
            if len(windows) != best.windows and not whole:
                continue
            if len(windows) != best.windows:
                raise ValueError(f"the question {id!r} has {len(windows)} of its {best.windows} windows")
            least = min(each.prediction.no_answer for each in windows)
            made = ScoredAnswer(best.answer, least - best.score)
            first = windows[0]
            said = "" if config.unanswerable and made.no_answer > config.limit else made.text
            for kept, prediction in ((answers, said), (scored, made)):
                kept.append(Collected(id, first.reference, prediction, first.source, first.length))
        return {"examples": answers, "scored": scored}

    @classmethod
    def choosing(cls, config: SpanAnswering, examples: Sequence[Collected]) -> SpanAnswering:
        """Returns the task with the threshold of the greatest F1 on some questions.

        Where it is best to answer none of them, it is below all their scores.
        """
        scored = cls.joined(config, examples)["scored"]
        texts, scores = zip(*(each.prediction for each in scored))
        found = best_threshold([each.reference for each in scored], texts, scores)
        return config.model_copy(update={"threshold": max(found, min(scores) - 1.0)})


class Answers(NamedTuple):
    """The best answers of each window, the best first, and the score of having none.

    Attributes:
        no_answer: float32 [...].
        score: float32 [..., count]; `NO_SPAN` where there are fewer.
        start: int32 [..., count], place of the first piece among those of the window.
        end: int32 [..., count], place of the last piece.
    """

    no_answer: tf.Tensor
    score: tf.Tensor
    start: tf.Tensor
    end: tf.Tensor


def answers_of(
    config: Any,
    logits: Mapping[str, tf.Tensor],
    nowhere: tf.Tensor,
    begins: tf.Tensor,
    lengths: tf.Tensor,
    count: int,
) -> Answers:
    """Returns the best answers of each window of some rows.

    Args:
        logits: Logits `start` and `end`, float32 [batch, windows, length].
        nowhere: Place of each window for "no answer", int32 [batch, windows].
        begins: Place of each window's first piece in its row, int32 [batch, windows].
        lengths: Pieces of each window, int32 [batch, windows].
    """
    start, end = logits["start"], logits["end"]
    found = find_best_spans(start, end, begins, lengths, config.max_answer, count)
    no_answer = tf.gather(start + end, nowhere, axis=2, batch_dims=2)
    # Not finite if a logit is not, which a maximum may hide.
    told = 0.0 * tf.reduce_sum(start + end, axis=2)
    return Answers(no_answer + told, found.scores + told[..., tf.newaxis], found.starts, found.ends)


def most_question(config: Any, room: int) -> int:
    """Returns the most pieces of a question in a row: half of it at most is the question's."""
    return max(1, min(config.max_question, room // 2))


class _Question(NamedTuple):
    record: LabelledRecord
    pieces: npt.NDArray[np.int32]
    cut: int


def _column(records: Sequence[LabelledRecord], role: str) -> tf.Tensor:
    return tf.constant([str(each.texts[role]) for each in records], tf.string)


def _distinct(records: Sequence[LabelledRecord], role: str) -> tuple[list[str], list[int]]:
    """Returns the different texts of a role, and the number of each record's: a text has many questions."""
    numbers: dict[str, int] = {}
    owners = [numbers.setdefault(str(each.texts[role]), len(numbers)) for each in records]
    return list(numbers), owners


def _encoded(
    questions: Sequence[_Question], windows: Windows, pieces: PlacedPieces
) -> Iterator[EncodedRecord]:
    columns = [split_rows(each) for each in pieces]
    owners = windows.owners.numpy()
    counts = np.bincount(owners, minlength=len(questions))
    numbers = np.arange(len(owners)) - np.searchsorted(owners, owners)
    for owner, number, start, length in zip(owners, numbers, windows.starts.numpy(), windows.lengths.numpy()):
        ids, starts, ends = (column[owner][start : start + length] for column in columns)
        yield _window(questions[owner], int(number), int(counts[owner]), ids, starts, ends)


def _window(
    question: _Question,
    number: int,
    windows: int,
    ids: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int32],
    ends: npt.NDArray[np.int32],
) -> EncodedRecord:
    record, answers = question.record, _answers(question.record)
    first, last = _span(answers, starts, ends)
    begin, end = int(starts[0]), int(ends[-1])
    details = {
        "id": str(key_of(record.id)),
        "windows": windows,
        "answers": [each.text for each in answers],
        "length": len(question.pieces) + len(ids),
        "text": str(record.texts[CONTEXT])[begin:end],
        "places": (np.stack([starts, ends], axis=1).ravel() - begin).tolist(),
    }
    return EncodedRecord(
        key=key_of(f"{record.id}\n{number}"),
        source="",
        chunks=(question.pieces, ids),
        labels={names.SPAN_STARTS: [first], names.SPAN_ENDS: [last]},
        cut=int(question.cut) if number == 0 else 0,
        id=record.id,
        details=json.dumps(details, ensure_ascii=False, separators=(",", ":")),
    )


def _answers(record: LabelledRecord) -> list[AnswerSpan]:
    assert isinstance(record.label, tuple)
    return [each for each in record.label if isinstance(each, AnswerSpan)]


def _span(
    answers: Sequence[AnswerSpan], starts: npt.NDArray[np.int32], ends: npt.NDArray[np.int32]
) -> tuple[int, int]:
    """Returns the places, from 1, of the first answer that the window holds as a whole; zeros for none."""
    for text, start in answers:
        end = start + len(text)
        if starts[0] <= start and end <= ends[-1]:
            first, last = np.searchsorted(ends, start, "right"), np.searchsorted(starts, end, "left") - 1
            if first <= last:
                return int(first) + 1, int(last) + 1
    return 0, 0


# Score of a place that cannot be chosen; finite, so that it differs from a score that is not a number.
NO_SPAN = -1e30


class BestSpans(NamedTuple):
    """The best spans of some texts, the best first.

    Attributes:
        scores: Sum of the logits of both ends, float32 [..., spans]; `NO_SPAN` where there are fewer.
        starts: Place of the first piece among those that an answer may have, int32 [..., spans].
        ends: Place of the last piece, int32 [..., spans].
    """

    scores: tf.Tensor
    starts: tf.Tensor
    ends: tf.Tensor


def find_best_spans(
    start: tf.Tensor, end: tf.Tensor, begins: tf.Tensor, lengths: tf.Tensor, longest: int, count: int
) -> BestSpans:
    """Returns the best spans: all pairs of a first and a last place are looked at.

    Args:
        start: Logits of the first place, float32 [..., length].
        end: Logits of the last place, float32 [..., length].
        begins: First place that an answer may have, int32 [...].
        lengths: Number of places that an answer may have, int32 [...].

    Example: the answer may be in the places 1 to 3.

    >>> start, end = tf.constant([9.0, 1.0, 3.0, 0.0]), tf.constant([9.0, 2.0, 0.0, 1.0])
    >>> [each.numpy().tolist() for each in find_best_spans(start, end, tf.constant(1), tf.constant(3), 2, 2)]
    [[4.0, 3.0], [1, 0], [2, 0]]
    """
    places = tf.range(tf.shape(start)[-1])
    offsets = places - begins[..., tf.newaxis]
    allowed = (offsets >= 0) & (offsets < lengths[..., tf.newaxis])
    start, end = (tf.where(allowed, each, NO_SPAN) for each in (start, end))
    rank = start.shape.rank
    after = tf.pad(end, [[0, 0]] * (rank - 1) + [[0, longest - 1]], constant_values=NO_SPAN)
    lasts = tf.gather(after, places[:, tf.newaxis] + tf.range(longest), axis=-1)
    sums = tf.maximum(start[..., tf.newaxis] + lasts, NO_SPAN)
    flat = tf.reshape(sums, tf.concat([tf.shape(start)[:-1], [-1]], 0))
    more = tf.maximum(count - tf.shape(flat)[-1], 0)
    flat = tf.pad(
        flat, tf.concat([tf.zeros([rank - 1, 2], tf.int32), [[0, more]]], 0), constant_values=NO_SPAN
    )
    scores, found = tf.math.top_k(flat, count)
    firsts = found // longest
    starts = tf.where(scores > NO_SPAN, firsts - begins[..., tf.newaxis], 0)
    return BestSpans(scores, starts, tf.where(scores > NO_SPAN, starts + found % longest, 0))
