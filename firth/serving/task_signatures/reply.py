"""The signatures of dialogues: `reply` and `reply_turns` write replies, `score_replies` scores given ones."""

import functools

import tensorflow as tf

from firth import features as names
from firth.serving.evaluate import bytes_of_tokens, in_chunks
from firth.serving.score import ANSWER as SCORE_ANSWER
from firth.serving.served_model import Served
from firth.serving.signature import Output, Reading, Signature, reading, written_answer, written_outputs
from firth.serving.task_signatures.text_answers import asked_turns, write_replies
from firth.tokenizers.chat import Chat, UserPrompts
from firth.tokenizers.dialogue_prompts import read_dialogues

OUTPUTS = written_outputs(
    "reply",
    "what the model replies",
    "the dialogue had no room, and its oldest turns or the end of the last one were left out",
)
SCORED_OUTPUTS = {
    "pieces": Output(
        "pieces of the replies that are scored, without special ones such as the end; empty after the last "
        "one",
        "string",
        ("batch", "tokens"),
    ),
    "log_probabilities": Output(
        "natural logarithm of each one's probability after all before it; zeros after",
        shape=("batch", "tokens"),
    ),
    "log_probability": Output("their sum"),
    "token_count": Output("number of pieces that are scored", "int32"),
    **reading("the dialogue had no room, and its oldest turns or the end of the last reply were left out"),
}
# Dialogues of which the probabilities of all pieces are held at a time.
_ROWS = 4


def reply(served: Served, text: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns the reply to the first turn of a dialogue, the likeliest token at each place.

    Args:
        text: What the user says, string [batch]. Special pieces in it are ordinary text.
    """
    room = served.task.prompt_places(served.recipe.sequences)
    return _written(served, Chat(served.tokenizer).prompts(text, room))


def reply_turns(served: Served, messages: tf.Tensor, system: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns the reply to the last turn of a dialogue, the likeliest token at each place.

    Args:
        messages: Turns of the user and replies in turn, string [batch, turns], with empty strings after the
            last one.
        system: Instructions for each whole dialogue, string [batch]; empty for none.
    """
    turns = tf.RaggedTensor.from_tensor(messages, padding="")
    return _written(served, asked_turns(served, turns, system))


def _written(served: Served, asked: UserPrompts) -> dict[str, tf.Tensor]:
    replies, written = write_replies(served, asked.ids)
    return {
        "reply": replies,
        "log_probability": written.log_probability,
        "is_finished": written.is_finished,
        **Reading(asked.ids.row_lengths(), asked.given).outputs,
    }


def score_replies(served: Served, messages: tf.Tensor, system: tf.Tensor) -> dict[str, tf.Tensor]:
    """Scores the replies of dialogues that are learned: all of them or the last, as `task.replies` says.

    Args:
        messages: Turns of the user and replies in turn, string [batch, turns], with empty strings after the
            last one.
        system: Instructions for each whole dialogue, string [batch]; empty for none.
    """
    room, pad_id = served.row_length, served.tokenizer.pad_id
    turns = tf.RaggedTensor.from_tensor(messages, padding="")
    read = read_dialogues(Chat(served.tokenizer), turns, system, room)
    lengths = tf.minimum(read.ids.row_lengths(), room)
    longest = tf.maximum(tf.reduce_max(read.ids.row_lengths()), 1)
    is_learned = read.is_written.to_tensor(False, shape=tf.stack([-1, longest]))
    if served.task.replies == "last":
        is_learned &= _after_last_given(is_learned)
    tokens = read.ids.to_tensor(pad_id, shape=tf.stack([-1, longest]))
    longest = tf.minimum(longest, room)
    row = tf.stack([tokens, tf.cast(is_learned, tf.int32)], axis=2)[:, :longest]
    real = tf.sequence_mask(lengths, longest, tf.int32)
    rows = tf.concat([row, real[:, :, tf.newaxis]], axis=2)
    scores = in_chunks(functools.partial(_scores_of_rows, served), rows, _ROWS)["log_probabilities"]
    found = scores[:, :longest]
    is_text = tf.gather(bytes_of_tokens(served.tokenizer) > 0, row[:, :, 0])
    is_scored = (row[:, :, 1] * real > 0) & is_text & (tf.range(longest) > 0)
    vocabulary = tf.constant(served.tokenizer.get_vocabulary())
    pieces = tf.gather(vocabulary, tf.ragged.boolean_mask(row[:, :, 0], is_scored))
    own = tf.ragged.boolean_mask(found, is_scored)
    return {
        "pieces": pieces.to_tensor(""),
        "log_probabilities": own.to_tensor(0.0),
        "log_probability": tf.reduce_sum(own, axis=1),
        "token_count": tf.cast(own.row_lengths(), tf.int32),
        **Reading(lengths, read.given).outputs,
    }


def _after_last_given(is_written: tf.Tensor) -> tf.Tensor:
    """Returns which places are after all that is given before the last reply, bool [batch, places]."""
    places = tf.range(tf.shape(is_written)[1])[tf.newaxis]
    last = tf.reduce_max(tf.where(is_written, places, -1), axis=1, keepdims=True)
    is_given = ~is_written & (places < last)
    return places > tf.reduce_max(tf.where(is_given, places, -1), axis=1, keepdims=True)


def _scores_of_rows(served: Served, rows: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns the log probability of each token after those before it, float32 [batch, row_length].

    Args:
        rows: Tokens, 1 for those that are learned, and 1 for those that are not padding: int32
            [batch, places, 3].
    """
    tokens, is_learned, real = tf.unstack(rows, axis=2)
    places = tf.range(tf.shape(tokens)[1])[tf.newaxis] * real
    # What is before the first token that is learned is a prefix.
    order = tf.where(tf.cumsum(is_learned, axis=1) > 0, places, 0)
    following = tf.pad(tokens[:, 1:], [[0, 0], [0, 1]])
    weights = tf.pad((is_learned * real)[:, 1:], [[0, 0], [0, 1]])
    features = {
        names.TOKEN_IDS: tokens,
        names.POSITION_IDS: places,
        names.DOCUMENT_IDS: real,
        names.ATTENTION_ORDER: order,
        names.LABEL_IDS: tf.where(weights > 0, following, 0),
        names.LABEL_WEIGHTS: tf.cast(weights, tf.float32),
    }
    losses = served.model(features, training=False)[served.recipe.goal.main_loss].losses
    room = served.row_length
    wide = tf.pad(-losses[:, :-1], [[0, 0], [1, room - tf.shape(losses)[1]]])
    return {"log_probabilities": tf.ensure_shape(wide, [None, room])}


REPLY = Signature(
    reply,
    OUTPUTS,
    "Replies to the first turn of a dialogue, the likeliest token at each place.",
    {"text": "what the user says"},
    {"text": "What can you do?"},
    words_by="reply_turns",
    answer=written_answer("reply"),
    reads_heads=True,
)
REPLY_TURNS = Signature(
    reply_turns,
    OUTPUTS,
    "Replies to the last turn of a dialogue, as the model learned dialogues.",
    {
        "messages": "what the user says and the replies to it in turn; a reply at the end is left out",
        "system": "instructions for the whole dialogue",
    },
    {"messages": ("Hello!", "Hello. What can I do?", "Tell me about words.")},
    lists={"messages": " | "},
    optional=("system",),
    texts_by="reply",
    answer=written_answer("reply"),
    reads_heads=True,
)
SCORE_REPLIES = Signature(
    score_replies,
    SCORED_OUTPUTS,
    "Tells how probable the replies of a dialogue are, those that the model learns to write.",
    {
        "messages": "what the user says and the replies to it in turn",
        "system": "instructions for the whole dialogue",
    },
    {"messages": ("Hello!", "Hello. What can I do?")},
    lists={"messages": " | "},
    optional=("system",),
    reads_replies=True,
    answer=SCORE_ANSWER,
    reads_heads=True,
)
