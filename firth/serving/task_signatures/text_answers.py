"""Answers of tasks whose model writes text, or finds texts probable."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from firth.constraints.compiling import schema_automaton
from firth.constraints.token_bytes import TokenBytes
from firth.generation import Prompts, ReadRows, TokenReader, Writer, last_states, reader_of
from firth.generation.automaton_writer import AutomatonWriter
from firth.generation.controls import neutral_controls
from firth.generation.sampling import likeliest
from firth.generation.writer import AT_END
from firth.serving.encoding import repeat_ids
from firth.serving.served_model import Served
from firth.serving.signature import Reading
from firth.tasks.text_to_text import input_pieces
from firth.tokenizers.chat import Chat, UserPrompts
from firth.tokenizers.dialogue_prompts import dialogue_prompts


class WritingInputs(NamedTuple):
    """Inputs of records.

    Attributes:
        ids: Tokens with special ones, ragged int32 [batch, (tokens)].
        reading: How much of the texts of each record is read.
    """

    ids: tf.RaggedTensor
    reading: Reading


def inputs_of_texts(served: Served, *texts: tf.Tensor) -> WritingInputs:
    """Returns the inputs of some records, as in training.

    Args:
        *texts: The texts of the records, string [batch] each.
    """
    pieces = input_pieces(served.task, served.recipe.sequences, served.tokenizer, texts)
    kept = pieces.ids.row_lengths()
    framed_ids = add_frame(served, pieces.ids, served.task.form.before, served.task.form.after)
    return WritingInputs(framed_ids, Reading(kept, kept + pieces.cut))


def add_frame(
    served: Served, ids: tf.RaggedTensor, before: tuple[str, ...], after: tuple[str, ...]
) -> tf.RaggedTensor:
    """Returns tokens with special ones around them.

    Args:
        ids: Tokens, ragged int32 [batch, (tokens)].
    """
    first, last = (repeat_ids(served.special_ids(each), ids.nrows(tf.int32)) for each in (before, after))
    made = tf.concat([first, ids, last], axis=1)
    return made if isinstance(made, tf.RaggedTensor) else tf.RaggedTensor.from_tensor(made)


class WrittenTexts(NamedTuple):
    """Texts that were written.

    Attributes:
        ids: Tokens, ragged int32 [batch, (tokens)], without the end.
        log_probability: Sum of the natural logarithms of the probabilities of the tokens and of the end,
            float32 [batch].
        is_finished: bool [batch], False if the end did not come within the most tokens.
    """

    ids: tf.RaggedTensor
    log_probability: tf.Tensor
    is_finished: tf.Tensor


def write(
    served: Served,
    inputs: tf.RaggedTensor,
    facts: Mapping[str, tf.Tensor] | None = None,
    schema: Any = None,
) -> tuple[tf.Tensor, WrittenTexts]:
    """Returns the text that the model writes after each input, string [batch], and its tokens.

    The likeliest token is taken at each place. Special tokens but the end are never written.

    Args:
        inputs: Tokens with special ones, ragged int32 [batch, (tokens)].
        facts: What else the model reads of each text, by name: tensors [batch, ...].
        schema: JSON Schema that the texts are valid by; None for free texts.
    """
    form = served.task.form
    most = served.task.target_room(served.recipe.sequences) + len(form.target_after)
    texts = write_likeliest(
        served,
        _reader(served),
        Prompts.of(inputs, served.tokenizer.pad_id, facts),
        served.special_ids(form.target_after)[0],
        most,
        schema,
    )
    return served.tokenizer.detokenize(texts.ids), texts


def write_likeliest(
    served: Served,
    reader: TokenReader,
    prompts: Prompts,
    end: int,
    most: int,
    schema: Any = None,
) -> WrittenTexts:
    """Returns the continuations of prompts, the likeliest token at each place.

    Args:
        most: Most tokens of each, the end included.
        schema: JSON Schema that the texts are valid by; None for free texts.
    """
    may_write = served.proposable()
    may_write[end] = True
    writer: Any = Writer(reader, end, may_write, likeliest)
    if schema is not None:
        tokens = TokenBytes.of(served.tokenizer, may_write, end)
        writer = AutomatonWriter(writer, schema_automaton(schema, tokens))
    controls = neutral_controls(tf.shape(prompts.lengths)[0], 0)
    controls = controls._replace(most=tf.zeros_like(prompts.lengths) + most)
    writing, _ = writer.start(prompts, controls, most)
    found = writer.texts(writer.go_on(writing, controls, most))
    is_finished = found.ended == AT_END
    ids = tf.RaggedTensor.from_tensor(found.ids, lengths=found.count - tf.cast(is_finished, tf.int32))
    return WrittenTexts(ids, tf.reduce_sum(found.log_probabilities, axis=1), is_finished)


def asked_turns(served: Served, messages: tf.RaggedTensor, system: tf.Tensor) -> UserPrompts:
    """Returns dialogues as the model reads them before it replies to the last turn of each.

    Args:
        messages: Texts of the turns of the user and of replies in turn, ragged string [batch, (turns)].
        system: Instructions for each whole dialogue, string [batch]; empty for none.
    """
    room = served.task.prompt_places(served.recipe.sequences)
    return dialogue_prompts(Chat(served.tokenizer), messages, system, room)


def write_replies(
    served: Served, asked: tf.RaggedTensor, schema: Any = None
) -> tuple[tf.Tensor, WrittenTexts]:
    """Returns the reply to each dialogue, string [batch], and its tokens, the likeliest at each place.

    Args:
        asked: Dialogues as the model reads them, ragged int32 [batch, (tokens)].
        schema: JSON Schema that the replies are valid by; None for free ones.
    """
    chat, reader = Chat(served.tokenizer), reader_of(served.model, served.tokenizer, ())
    prompts = Prompts.of(asked, served.tokenizer.pad_id)
    written = write_likeliest(served, reader, prompts, chat.end_id, served.task.reply_tokens, schema)
    replies = served.tokenizer.detokenize(written.ids)
    return tf.strings.strip(replies) if chat.template.assistant.trims else replies, written


def _reader(served: Served) -> TokenReader:
    return reader_of(served.model, served.tokenizer, served.special_ids(served.task.form.target_start))


def label_log_probabilities(
    served: Served, inputs: tf.RaggedTensor, facts: Mapping[str, tf.Tensor] | None = None
) -> tf.Tensor:
    """Returns the log probabilities of the words of each class after each input, float32 [batch, classes].

    It is the natural logarithm of the probability of the words and the end after them.

    Args:
        inputs: Tokens with special ones, ragged int32 [batch, (tokens)].
        facts: What else the model reads of each text, by name: tensors [batch, ...].
    """
    task = served.task
    with tf.init_scope():
        words = served.tokenizer.tokenize(tf.constant(task.label_texts)).to_list()
    end, room = served.special_ids(task.form.target_after), task.target_room(served.recipe.sequences)
    targets = [[*ids[:room], *end] for ids in words]
    reader = _reader(served)
    prompts = Prompts.of(inputs, served.tokenizer.pad_id, facts)
    states, rows = reader.begin(prompts, max(map(len, targets)))
    before = last_states(states, rows)
    return tf.stack([_log_probability(reader, before, rows, target) for target in targets], axis=1)


def _log_probability(
    reader: TokenReader, before: tf.Tensor, rows: ReadRows, target: Sequence[int]
) -> tf.Tensor:
    """Returns the log probability of one target after each input, float32 [batch]."""
    targets = tf.tile(tf.constant([target], tf.int32), [tf.shape(before)[0], 1])
    states = before[:, tf.newaxis]
    if len(target) > 1:
        states = tf.concat([states, reader.read(targets[:, :-1], rows)[0]], axis=1)
    scores = tf.nn.log_softmax(tf.cast(reader.logits(states), tf.float32))
    # Not by `tf.gather_nd`, which refuses to look anything up in an empty batch.
    return tf.reduce_sum(tf.gather(scores, targets, batch_dims=2), axis=1)


def numbers_of_texts(texts: tf.Tensor, unreadable: float) -> tf.Tensor:
    """Returns the numbers that texts are, float32 [batch].

    Args:
        texts: Texts that a model wrote, string [batch].

    Example:

    >>> numbers_of_texts(tf.constant([" 2.6", "2.6."]), -1.0).numpy().tolist()
    [2.5999999046325684, -1.0]
    """
    stripped = tf.strings.strip(texts)
    is_number = tf.strings.regex_full_match(stripped, r"[-+]?(\d+\.?\d*|\.\d+)")
    return tf.where(
        is_number, tf.strings.to_number(tf.where(is_number, stripped, "0")), np.float32(unreadable)
    )
