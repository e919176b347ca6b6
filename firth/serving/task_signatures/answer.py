"""The signature `answer`: the part of a text that answers a question, with its place."""

from collections.abc import Sequence

import tensorflow as tf

from firth.serving.evaluate import in_chunks
from firth.serving.served_model import Served
from firth.serving.signature import Answer, Output, Reading, Signature, reading
from firth.serving.task_signatures.records import encode_pieces
from firth.tasks.span import NO_SPAN, answers_of, most_question
from firth.tasks.windows import (
    PlacedPieces,
    Windows,
    place_pieces,
    question_pieces,
    read_windows,
)

_TOLD = ("answer", "start", "end", "score", "probability", "answers", "starts", "ends", "probabilities")
_ANSWER = Answer(
    {name: name for name in _TOLD},
    lines="{% if answer %}{{ start }}-{{ end }} {{ answer }}{% else %}no answer{% endif %} "
    "{{ '%.4f' % probability }}",
)
_OF_ANSWERS = ("batch", "n_best")
OUTPUTS = {
    "answer": Output(
        "the best answer, cut from the text; empty if the text has none", "string", is_invariant=False
    ),
    "start": Output("place of its first character; 0 for no answer", "int32", is_invariant=False),
    "end": Output("place after its last character; 0 for no answer", "int32", is_invariant=False),
    "score": Output("logits of its ends less those of having no answer"),
    "probability": Output("probability of what is said", is_invariant=False),
    "answers": Output(
        "the best answers, whatever is said; empty where there are fewer",
        "string",
        _OF_ANSWERS,
        is_invariant=False,
    ),
    "starts": Output("places of their first characters", "int32", _OF_ANSWERS, is_invariant=False),
    "ends": Output("places after their last ones", "int32", _OF_ANSWERS, is_invariant=False),
    "probabilities": Output("their probabilities, among them alone; zeros after", shape=_OF_ANSWERS),
    **reading("the end of the question or of the text was not read"),
}


def answer(served: Served, text: tf.Tensor, pair: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns the best answers to each question, from all windows of its text.

    An answer that several windows hold counts once, where it is best.

    Args:
        text: Questions, string [batch].
        pair: Texts that hold the answers, string [batch].
    """
    config = served.task
    room = served.row_length - config.form.special_tokens(2)
    questions, cut = question_pieces(served.tokenizer, text, most_question(config, room))
    pieces = place_pieces(served.tokenizer, pair)
    rooms = room - tf.cast(questions.row_lengths(), tf.int32)
    lengths = tf.cast(pieces.ids.row_lengths(), tf.int32)
    windows, read = read_windows(lengths, rooms, config.stride)
    found = _of_windows(served, questions, pieces, windows)
    kept = questions.row_lengths()
    amount = Reading(kept, kept + tf.cast(cut, tf.int64)) + Reading(read, lengths)
    return {**_of_texts(served, pair, pieces, windows, found), **amount.outputs}


def _of_windows(
    served: Served, questions: tf.RaggedTensor, pieces: PlacedPieces, windows: Windows
) -> dict[str, tf.Tensor]:
    """Returns the answers of windows, [windows] each, so many at a time as a batch has."""
    width = served.row_length
    of_windows = [tf.gather(questions, windows.owners), windows.of(pieces.ids)]
    counts = [tf.cast(each.row_lengths(), tf.int32)[:, tf.newaxis] for each in of_windows]
    dense = [each.to_tensor(shape=[None, width]) for each in of_windows]
    return in_chunks(
        lambda rows: _of_rows(served, rows),
        tf.concat([*counts, *dense], axis=1),
        served.recipe.evaluation.batch_size,
    )


def _of_rows(served: Served, rows: tf.Tensor) -> dict[str, tf.Tensor]:
    width, form = served.row_length, served.task.form
    lengths, windows = rows[:, 0], rows[:, 1]
    texts = (
        tf.RaggedTensor.from_tensor(rows[:, 2 + place * width : 2 + (place + 1) * width], lengths=count)
        for place, count in enumerate((lengths, windows))
    )
    features = encode_pieces(served, *texts)
    logits = served.model.logits(features, training=False)
    begins = (lengths + len(form.before) + len(form.between))[:, tf.newaxis]
    nowhere, count = features["pooled_positions"], served.task.n_best
    found = answers_of(served.task, logits, nowhere, begins, windows[:, tf.newaxis], count)
    return {name: value[:, 0] for name, value in found._asdict().items()}


def _of_texts(
    served: Served, context: tf.Tensor, pieces: PlacedPieces, windows: Windows, found: dict[str, tf.Tensor]
) -> dict[str, tf.Tensor]:
    batch, task = tf.size(context), served.task
    firsts = tf.cast(tf.gather(pieces.starts.row_splits, windows.owners), tf.int32) + windows.starts
    start = tf.gather(pieces.starts.flat_values, firsts[:, tf.newaxis] + found["start"])
    end = tf.gather(pieces.ends.flat_values, firsts[:, tf.newaxis] + found["end"])
    # The piece for a text without pieces is not an answer.
    score = tf.where(end > start, found["score"], NO_SPAN)
    by_text = [_by_text(each, windows.owners, batch) for each in (score, start, end)]
    scores, starts, ends = _different(by_text, task.n_best)
    no_answer = tf.math.unsorted_segment_min(found["no_answer"], windows.owners, batch)[:, tf.newaxis]
    choices = tf.concat([scores, no_answer if task.unanswerable else scores[:, :0]], axis=1)
    probabilities = tf.where(choices > NO_SPAN, tf.nn.softmax(choices), 0.0)
    best = scores[:, 0] - no_answer[:, 0]
    said = scores[:, 0] > NO_SPAN
    said &= (best >= -task.limit) | (not task.unanswerable)
    readable = tf.strings.unicode_transcode(context, "UTF-8", "UTF-8", errors="replace")
    copies = tf.tile(readable[:, tf.newaxis], [1, task.n_best])
    answers = tf.strings.substr(copies, starts, ends - starts, unit="UTF8_CHAR")
    return {
        "answer": tf.where(said, answers[:, 0], ""),
        "start": tf.where(said, starts[:, 0], 0),
        "end": tf.where(said, ends[:, 0], 0),
        "score": best,
        "probability": tf.where(said, probabilities[:, 0], probabilities[:, -1]),
        "answers": answers,
        "starts": starts,
        "ends": ends,
        "probabilities": probabilities[:, : task.n_best],
    }


def _by_text(values: tf.Tensor, owners: tf.Tensor, batch: tf.Tensor) -> tf.Tensor:
    """Returns the values of windows, [windows, n], as those of their texts, [batch, all]."""
    dense = tf.RaggedTensor.from_value_rowids(values, owners, batch).to_tensor(
        NO_SPAN if values.dtype.is_floating else 0
    )
    return tf.reshape(dense, tf.stack([batch, tf.shape(dense)[1] * values.shape[1]]))


def _different(spans: Sequence[tf.Tensor], count: int) -> list[tf.Tensor]:
    """Returns scores, starts and ends of the best different spans of each text, [batch, count] each."""
    # So that a batch without texts has a value to choose, too.
    fills = (NO_SPAN, 0, 0)
    scores, starts, ends = (
        tf.pad(each, [[0, 0], [0, 1]], constant_values=fill) for each, fill in zip(spans, fills)
    )
    chosen = []
    for _ in range(count):
        place = tf.argmax(scores, axis=1)
        each = [tf.gather(values, place, batch_dims=1) for values in (scores, starts, ends)]
        real = each[0] > NO_SPAN
        chosen.append([each[0], *(tf.where(real, bound, 0) for bound in each[1:])])
        same = (starts == each[1][:, tf.newaxis]) & (ends == each[2][:, tf.newaxis])
        scores = tf.where(same, NO_SPAN, scores)
    return [tf.stack(column, axis=1) for column in zip(*chosen)]


ANSWER = Signature(
    answer,
    OUTPUTS,
    "Answers a question by a part of a text.",
    {"text": "question", "pair": "text that holds the answer"},
    {"text": "What keeps company?", "pair": "A word keeps company."},
    answer=_ANSWER,
    reads_heads=True,
)
