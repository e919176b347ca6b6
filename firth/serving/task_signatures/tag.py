"""The signatures `tag` and `tag_words`: a tag for each word of a text, or of a list of words."""

import functools

import tensorflow as tf

from firth.recipes.base.tag_schemes import OUTSIDE
from firth.serving.evaluate import in_chunks
from firth.serving.served_model import Served
from firth.serving.signature import Answer, Output, Reading, Signature, reading
from firth.serving.task_signatures.records import encode_pieces, encode_record_words
from firth.tasks.windows import word_windows
from firth.tasks.word_offsets import Words, pieces_of_words, split_words

_TOLD = {"tags": "tag", "probabilities": "probability", "are_read": "is_read"}
_LINE = (
    "{{ word.word }} {% if word.is_read %}{{ word.tag }} {{ '%.4f' % word.probability }}"
    "{% else %}not read{% endif %}"
)
_ANSWER = Answer(
    {"words": "word", "starts": "start", "ends": "end", **_TOLD},
    count="word_count",
    records="words",
    lines=f"{{% for word in words %}}{{{{ word.start }}}}-{{{{ word.end }}}} {_LINE}\n{{% endfor %}}",
)
_ANSWER_OF_WORDS = Answer(
    {"words": "word", **_TOLD},
    count="word_count",
    records="words",
    lines=f"{{% for word in words %}}{_LINE}\n{{% endfor %}}",
)
_OF_WORDS = ("batch", "words")
_PLACES = {
    "starts": Output("place of each word's first character; zeros after", "int32", _OF_WORDS),
    "ends": Output("place after its last character; zeros after", "int32", _OF_WORDS),
}
_TAGS = {
    "tags": Output("the likeliest tag of each; empty after", "string", _OF_WORDS, is_invariant=False),
    "probabilities": Output("their probabilities; zeros after, and for words not read", shape=_OF_WORDS),
    "are_read": Output(
        "whether the model read a piece of each word; O is the tag of others", "bool", _OF_WORDS
    ),
    "word_count": Output("number of words", "int32"),
    **reading("the text has more windows than are read, and words at its end were not read"),
}
OUTPUTS = {
    "words": Output(
        "words as the text has them; empty after the last one", "string", _OF_WORDS, is_invariant=False
    ),
    **_PLACES,
    **_TAGS,
}
OUTPUTS_OF_WORDS = {
    "words": Output("the words; empty after the last one", "string", _OF_WORDS, is_invariant=False),
    **_TAGS,
}


def words_of(served: Served, text: tf.Tensor) -> Words:
    """Returns the words of texts that are not given as words.

    Args:
        text: Texts, string [batch].
    """
    return split_words(text, served.tokenizer.special_texts)


def tag(served: Served, text: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns the likeliest tag of each word of a text, which is split into words.

    Args:
        text: Texts, string [batch].
    """
    words = words_of(served, text)
    places = {"starts": words.starts.to_tensor(), "ends": words.ends.to_tensor()}
    return {**_tagged(served, words.texts), **places}


def tag_words(served: Served, words: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns the likeliest tag of each word of a list.

    Args:
        words: Words, string [batch, words], with empty strings after the last one.
    """
    return _tagged(served, tf.RaggedTensor.from_tensor(words, padding=""))


def _tagged(served: Served, words: tf.RaggedTensor) -> dict[str, tf.Tensor]:
    """Returns the tags of words, ragged string [batch, (words)], each from the window that answers for it."""
    room = served.row_length - served.task.form.special_tokens(1)
    pieces = pieces_of_words(served.tokenizer, words)
    lengths = tf.cast(pieces.tokens.row_lengths(), tf.int32)
    found = word_windows(lengths, pieces.first_places, room)
    answers = in_chunks(
        functools.partial(_of_rows, served),
        found.windows.of(pieces.tokens).to_tensor(_padding(pieces.tokens.dtype), shape=[None, room]),
        served.recipe.evaluation.batch_size,
    )
    is_read = found.owners >= 0
    places = tf.stack([tf.maximum(found.owners, 0), found.places], axis=1)
    numbers, probabilities = (tf.gather_nd(answers[name], places) for name in ("numbers", "probabilities"))
    tags = tf.where(is_read, tf.gather(tf.constant(served.task.labels), numbers), OUTSIDE)
    return {
        "words": words.to_tensor(""),
        "tags": words.with_flat_values(tags).to_tensor(""),
        "probabilities": words.with_flat_values(tf.where(is_read, probabilities, 0.0)).to_tensor(),
        "are_read": words.with_flat_values(is_read).to_tensor(False),
        "word_count": tf.cast(words.row_lengths(), tf.int32),
        **Reading(found.read, lengths).outputs,
    }


def _padding(dtype: tf.DType) -> str | int:
    """Returns a value that no token has."""
    return "" if dtype == tf.string else -1


def _of_rows(served: Served, rows: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns number and probability of the likeliest tag at each piece of windows, [windows, room]."""
    tokens = tf.RaggedTensor.from_tensor(rows, padding=tf.constant(_padding(rows.dtype), rows.dtype))
    read = encode_record_words if rows.dtype == tf.string else encode_pieces
    features = read(served, tokens)
    (logits,) = served.model.logits(features, training=False).values()
    scores = served.model.heads.answer_scores(logits, features)
    numbers = tf.argmax(scores, axis=-1, output_type=tf.int32)
    probabilities = served.model.heads.probabilities(logits, features)
    best = tf.gather(probabilities, numbers, batch_dims=2)
    first, room = len(served.task.form.before), rows.shape[1]
    return {
        name: _of_width(values[:, first:], room)
        for name, values in (("numbers", numbers), ("probabilities", best))
    }


def _of_width(values: tf.Tensor, width: int) -> tf.Tensor:
    """Returns values [batch, any] with zeros after them, or without those that are too many."""
    kept = values[:, :width]
    wide = tf.pad(kept, [[0, 0], [0, width - tf.shape(kept)[1]]])
    return tf.ensure_shape(wide, [None, width])


TAG = Signature(
    tag,
    OUTPUTS,
    "Splits a text at spaces and around punctuation, and gives each word its place and its tag.",
    example={"text": "A sentence."},
    words_by="tag_words",
    answer=_ANSWER,
    reads_heads=True,
)
TAG_WORDS = Signature(
    tag_words,
    OUTPUTS_OF_WORDS,
    "Gives each word of a list its tag, as the model learned them.",
    {"words": "the words"},
    {"words": ("A", "sentence", ".")},
    lists={"words": " "},
    texts_by="tag",
    from_text=lambda served, text: words_of(served, text).texts,
    answer=_ANSWER_OF_WORDS,
    reads_heads=True,
)
