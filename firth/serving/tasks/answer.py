"""The signature `answer`: the part of a text that answers a question, with its place."""

import tensorflow as tf

from firth.recipes.run.run_recipe import RunRecipe
from firth.serving.evaluate import in_chunks
from firth.serving.served import Served
from firth.serving.signature import Answer, Signature
from firth.serving.tasks.records import features_of_pieces
from firth.tasks.span import answers_of, most_question
from firth.tasks.windows import PlacedPieces, Windows, placed_pieces, question_pieces, windows_of

# Of a longer text the rest is not read, so that no text takes the server's memory or its time.
MOST_WINDOWS = 64
_ANSWER = Answer(
    {"answer": "answer", "start": "start", "end": "end", "score": "score", "probability": "probability"},
    lines="{% if answer %}{{ start }}-{{ end }} {{ answer }}{% else %}no answer{% endif %} "
    "{{ '%.4f' % probability }}",
)
_INVARIANT = ("score", "probability", "truncated")


def offer(recipe: RunRecipe) -> Signature | None:
    """Returns the signature, if the recipe's task is to answer by parts of texts.

    Args:
        recipe: Recipe of the model.
    """
    if getattr(recipe.goal, "signature", "") != "answer":
        return None
    return Signature(
        answer,
        _INVARIANT,
        ("text", "pair"),
        {"text": "What keeps company?", "pair": "A word keeps company."},
        answer=_ANSWER,
        reads_heads=True,
    )


def answer(served: Served, text: tf.Tensor, pair: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns the best answer to each question, from all windows of its text.

    Args:
        served: Model and tokenizer.
        text: Questions, string [batch].
        pair: Texts that hold the answers, string [batch].

    Returns:
        answer: string [batch], cut from the text; empty if the text has no answer.
        start: int32 [batch], place of its first character in the text; 0 for no answer.
        end: int32 [batch], place after its last character; 0 for no answer.
        score: float32 [batch], the logits of the answer's ends less those of having no answer.
        probability: float32 [batch], of the best answer, if there is that one and none to choose from.
        truncated: bool [batch], whether the end of the question or of the text was not read.
    """
    config = served.task
    room = served.row_length - config.form.special_tokens(2)
    questions, cut = question_pieces(served.tokenizer, text, most_question(config, room))
    pieces = placed_pieces(served.tokenizer, pair)
    rooms = room - tf.cast(questions.row_lengths(), tf.int32)
    lengths = tf.cast(pieces.ids.row_lengths(), tf.int32)
    most = rooms + (MOST_WINDOWS - 1) * tf.minimum(config.stride, rooms)
    windows = windows_of(tf.minimum(lengths, most), rooms, config.stride)
    found = _of_windows(served, questions, pieces, windows)
    return _of_texts(served, pair, pieces, windows, found) | {"truncated": (cut > 0) | (lengths > most)}


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
    features = features_of_pieces(served, *texts)
    logits = served.model.logits(features, training=False)
    begins = lengths + len(form.before) + len(form.between)
    found = answers_of(
        served.task, logits, features["pooled_positions"], begins[:, tf.newaxis], windows[:, tf.newaxis]
    )
    return {name: value[:, 0] for name, value in found._asdict().items()}


def _of_texts(
    served: Served, context: tf.Tensor, pieces: PlacedPieces, windows: Windows, found: dict[str, tf.Tensor]
) -> dict[str, tf.Tensor]:
    batch = tf.size(context)
    best = tf.math.unsorted_segment_max(found["score"], windows.owners, batch)
    no_answer = tf.math.unsorted_segment_min(found["no_answer"], windows.owners, batch)
    # Of windows of one score, the first one.
    count = tf.size(windows.owners)
    is_best = found["score"] == tf.gather(best, windows.owners)
    chosen = tf.math.unsorted_segment_min(
        tf.where(is_best, tf.range(count), count - 1), windows.owners, batch
    )
    splits = tf.cast(pieces.starts.row_splits[:-1], tf.int32) + tf.gather(windows.starts, chosen)
    start = tf.gather(pieces.starts.flat_values, splits + tf.gather(found["start"], chosen))
    end = tf.gather(pieces.ends.flat_values, splits + tf.gather(found["end"], chosen))
    score = best - no_answer
    said = end > start
    if served.task.unanswerable:
        said &= score >= -served.task.limit
    start, end = (tf.where(said, each, 0) for each in (start, end))
    readable = tf.strings.unicode_transcode(context, "UTF-8", "UTF-8", errors="replace")
    return {
        "answer": tf.strings.substr(readable, start, end - start, unit="UTF8_CHAR"),
        "start": start,
        "end": end,
        "score": score,
        "probability": tf.sigmoid(score),
    }
