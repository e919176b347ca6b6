"""The signature `tag`: the words of a text, each with its place and its tag."""

import tensorflow as tf

from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.tasks.tagging import OUTSIDE
from firth.serving.descriptions.output import Output, truncated
from firth.serving.served import Served
from firth.serving.signature import Answer, Signature
from firth.serving.tasks.records import features_of_pieces, features_of_words
from firth.tasks.word_offsets import split_words
from firth.tasks.words import pieces_of_words

_ANSWER = Answer(
    {"words": "word", "starts": "start", "ends": "end", "tags": "tag", "probabilities": "probability"},
    count="word_count",
    records="words",
    lines="{% for word in words %}{{ word.start }}-{{ word.end }} {{ word.word }} {{ word.tag }} "
    "{{ '%.4f' % word.probability }}\n{% endfor %}",
)
_OF_WORDS = ("batch", "words")
OUTPUTS = {
    "words": Output(
        "words as they stand in the text; empty after the last one", "string", _OF_WORDS, is_invariant=False
    ),
    "starts": Output("place of each word's first character; zeros after", "int32", _OF_WORDS),
    "ends": Output("place after its last character; zeros after", "int32", _OF_WORDS),
    "tags": Output("the likeliest tag of each; empty after", "string", _OF_WORDS, is_invariant=False),
    "probabilities": Output("their probabilities; zeros after, and for words not seen", shape=_OF_WORDS),
    "word_count": Output("number of words", "int32"),
    "truncated": truncated("words at the end were not seen"),
}


def offer(recipe: RunRecipe) -> Signature | None:
    """Returns the signature, if the recipe's task is to tag words.

    Args:
        recipe: Recipe of the model.
    """
    if getattr(recipe.goal, "signature", "") != "tag":
        return None
    example, meaning = {"text": "A sentence."}, "Gives each word of a text its place and its tag."
    return Signature(tag, OUTPUTS, meaning, example=example, answer=_ANSWER, reads_heads=True)


def tag(served: Served, text: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns the likeliest tag of each word. A word that the model does not see is `O`, of probability 0.

    Args:
        served: Model and tokenizer.
        text: Texts, string [batch].

    Returns:
        What `OUTPUTS` describes.
    """
    words = split_words(text, served.tokenizer.special_texts)
    form = served.task.form
    pieces = pieces_of_words(served.tokenizer, words.texts, served.row_length - form.special_tokens(1))
    read = features_of_pieces(served, pieces.ids)
    if pieces.words is not None:
        read = features_of_words(served, pieces.words)
    (logits,) = served.model.logits(read, training=False).values()
    scores = served.model.heads.answer_scores(logits, read)
    probabilities = served.model.heads.probabilities(logits, read)
    first_places = pieces.first_places.to_tensor(-1)
    seen = first_places >= 0
    places = tf.where(seen, first_places + len(form.before), 0)
    numbers = tf.argmax(tf.gather(scores, places, batch_dims=1), axis=-1)
    of_words = tf.gather(tf.gather(probabilities, places, batch_dims=1), numbers, batch_dims=2)
    count = tf.cast(words.texts.row_lengths(), tf.int32)
    tags = tf.gather(tf.constant(served.task.labels), numbers)
    real = tf.sequence_mask(count, tf.shape(first_places)[1])
    return {
        "words": words.texts.to_tensor(""),
        "starts": words.starts.to_tensor(),
        "ends": words.ends.to_tensor(),
        "tags": tf.where(real, tf.where(seen, tags, OUTSIDE), ""),
        "probabilities": tf.where(seen, of_words, 0.0),
        "word_count": count,
        "truncated": pieces.cut > 0,
    }
