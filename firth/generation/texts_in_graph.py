"""Framing inside a graph, for servers: texts become prompts, and written ids become texts."""

from typing import NamedTuple

import tensorflow as tf

from firth import features as names
from firth.generation.framing import PromptFraming, TurnsFraming
from firth.generation.token_reader import Prompts
from firth.tokenizers.dialogue_prompts import dialogue_prompts, turns_of_json


class ReadTexts(NamedTuple):
    """Texts as a model reads them.

    Attributes:
        prompts: Prompts of the model.
        own: Their own tokens, ragged int32 [batch, (tokens)].
        room: Most tokens that can be written after each, the end included, int32 [batch].
        truncated: bool [batch], True if a text has more tokens than the model reads, and was cut.
        given: Number of tokens of each whole text, int32 [batch].
    """

    prompts: Prompts
    own: tf.RaggedTensor
    room: tf.Tensor
    truncated: tf.Tensor
    given: tf.Tensor


def read_texts(framing: PromptFraming, texts: tf.Tensor, most: tf.Tensor) -> ReadTexts:
    """Returns prompts made of texts, like `PromptFraming.read`, but without errors.

    An empty text is a prompt after which the model begins a text. A text that is too long is cut so that
    there is room for `most` tokens, or for half a row. It keeps its end if the written text continues it, and
    its beginning otherwise.

    Args:
        texts: Texts, string [batch]; any bytes.
        most: Most tokens to write after each, int32 [batch].
    """
    goal, tokenizer, specials = framing.goal, framing.tokenizer, len(framing.before) + len(framing.after)
    if goal.prompt_prefix:
        texts = tf.strings.join([goal.prompt_prefix, texts])
    words = tokenizer.split(texts) if framing.reads_words else None
    whole = tokenizer.tokenize(texts) if words is None else tokenizer.word_ids(words)
    lengths = tf.cast(whole.row_lengths(), tf.int32)
    truncated = lengths > goal.prompt_places(framing.sequences) - specials
    kept = tf.where(truncated, _places(framing, most) - specials, lengths)
    first = lengths - kept if framing.continues else tf.zeros_like(lengths)
    # On flat values: an operator on ragged tensors broadcasts their shapes, which is slow to trace.
    places, rows = tf.cast(tf.ragged.range(lengths).flat_values, tf.int32), whole.value_rowids()
    is_inside = (places >= tf.gather(first, rows)) & (places < tf.gather(first + kept, rows))
    is_kept = whole.with_flat_values(is_inside)
    own = tf.ragged.boolean_mask(whole, is_kept)
    before, after = (
        tf.tile(tf.constant([ids], tf.int32, [1, len(ids)]), [whole.nrows(tf.int32), 1])
        for ids in (framing.before, framing.after)
    )
    prompts = Prompts.of(tf.concat([before, own, after], axis=1), tokenizer.pad_id)
    if words is not None:
        spelled = _characters(framing, tf.ragged.boolean_mask(words, is_kept), tf.shape(prompts.ids)[1])
        prompts = prompts._replace(facts={names.CHARACTERS: spelled})
    room = tf.zeros_like(lengths) + goal.written_places(framing.sequences, prompts.lengths)
    return ReadTexts(prompts, own, room, truncated, lengths)


def read_prompts(framing: PromptFraming, texts: tf.Tensor, most: tf.Tensor) -> ReadTexts:
    """Returns prompts made of texts, as `read_texts` does, or of dialogues as JSON, by the model.

    A dialogue that is too long loses its oldest exchanges, as in training, and then the end of its last turn.

    Args:
        texts: Texts or dialogues, string [batch]; see `firth.tokenizers.dialogue_prompts`.
        most: As `read_texts` takes it; a dialogue leaves the places free that the recipe says.

    Raises (when run):
        tf.errors.InvalidArgumentError: for a text that is not a dialogue, if the model learned dialogues.
    """
    return (
        _read_turns(framing, texts) if isinstance(framing, TurnsFraming) else read_texts(framing, texts, most)
    )


def _read_turns(framing: TurnsFraming, texts: tf.Tensor) -> ReadTexts:
    turns, room = turns_of_json(texts), framing.goal.prompt_places(framing.sequences)
    read = dialogue_prompts(framing.chat, turns.messages, turns.system, room)
    prompts = Prompts.of(read.ids, framing.tokenizer.pad_id)
    left = framing.goal.written_places(framing.sequences, prompts.lengths)
    truncated = read.ids.row_lengths() < read.given
    return ReadTexts(prompts, read.ids, left, truncated, tf.cast(read.given, tf.int32))


def _places(framing: PromptFraming, most: tf.Tensor) -> tf.Tensor:
    """Returns the number of places of a text that is cut, int32 [batch]."""
    places = framing.goal.prompt_places(framing.sequences)
    room, roomier = (framing.goal.written_places(framing.sequences, each) for each in (places, places - 1))
    gives_way = tf.clip_by_value(most - room, 0, places // 2)
    return places - gives_way * (roomier - room)


def _characters(framing: PromptFraming, words: tf.RaggedTensor, length: tf.Tensor) -> tf.Tensor:
    """Returns the characters of prompts, int32 [batch, length, max_characters]."""
    tokenizer, marks = framing.tokenizer, len(framing.before)
    spelled = words.with_flat_values(tokenizer.characters(words.flat_values))
    inside = spelled.to_tensor(shape=tf.stack([-1, length - marks, tokenizer.max_characters]))
    mark = tf.constant(tokenizer.bos_characters, tf.int32)[tf.newaxis, tf.newaxis]
    return tf.concat([tf.tile(mark, tf.stack([tf.shape(inside)[0], marks, 1])), inside], axis=1)


def written_texts(framing: PromptFraming, own: tf.RaggedTensor, ids: tf.RaggedTensor) -> tf.Tensor:
    """Returns the texts of tokens that were written after prompts, string [batch], in UTF-8.

    Args:
        own: Own tokens of the prompts, ragged int32 [batch, (tokens)].
        ids: Tokens that were written, without the end, ragged int32 [batch, (tokens)].
    """
    if framing.continues:
        known, whole = (framing.tokenizer.detokenize(each) for each in (own, tf.concat([own, ids], axis=1)))
        sizes = tf.strings.length(whole)
        first = tf.minimum(tf.strings.length(known), sizes)
        texts = tf.strings.substr(whole, first, sizes - first)
    else:
        texts = framing.tokenizer.detokenize(ids)
        texts = tf.strings.strip(texts) if framing.trims else texts
    return tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", errors="replace")
