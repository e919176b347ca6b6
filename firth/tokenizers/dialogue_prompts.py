"""Dialogues in the graph of a served model: read from JSON, and laid out as a model reads them."""

from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from firth.recipes.tokenizers.chat_template import ASSISTANT, SYSTEM, USER
from firth.tokenizers.chat import Chat, UserPrompts, drop_middle

# Surrounds the ids of special pieces; two of them end a text where the model's own begins or ends.
_MARK = "\ufdd5"
_BREAK = _MARK + _MARK
REFUSAL = (
    f"must be a dialogue as JSON in UTF-8: a list of messages with `role` and `content` alone, of the {USER} "
    f"and the {ASSISTANT} in turn, the {USER}'s last; a message of the {SYSTEM} may be before them"
)
# Control characters, which no string of JSON holds as they are.
_AROUND, _AFTER_ROLE = "\x01", "\x02"
_SPACE = r"[ \t\r\n]*"
_COMMA, _COLON = f"{_SPACE},{_SPACE}", f"{_SPACE}:{_SPACE}"
# Where the name of the only feature of a tf.Example is.
_FIELDS = (("Example", "features"), ("Features", "feature"), ("Features.FeatureEntry", "key"))
_STRING = r'(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*'


class ReadDialogues(NamedTuple):
    """Dialogues that a model reads with their replies.

    Attributes:
        ids: Ragged int32 [batch, (pieces)].
        is_written: Ragged bool [batch, (pieces)], True for replies and their ends.
        given: int64 [batch], pieces that a dialogue would have if nothing of it was left out.
    """

    ids: tf.RaggedTensor
    is_written: tf.RaggedTensor
    given: tf.Tensor


def dialogue_prompts(chat: Chat, messages: tf.RaggedTensor, system: tf.Tensor, room: int) -> UserPrompts:
    """Returns the prompts of dialogues, as `Chat.prompt` does, in a graph too.

    A dialogue that is too long loses its oldest exchanges, as in training, and then the end of its last turn.

    Args:
        messages: Texts of the turns of the user and of replies in turn, ragged string [batch, (turns)]. A
            reply at the end is left out; no turn at all is one that is empty.
        system: Instructions for each whole dialogue, string [batch]; empty for none.
    """
    own = _with_a_turn(messages)
    counts = own.row_lengths() - tf.cast(own.row_lengths() % 2 == 0, tf.int64)
    own = _with_those(own, _places(own) < tf.gather(counts, own.value_rowids()))

    def ids_without(dropped: tf.Tensor) -> tf.RaggedTensor:
        return _pieces(chat, _texts(chat, _without_oldest(own, dropped), system, asks=True))[0]

    dropped = _dropped(ids_without, counts, room, 1)
    ids = ids_without(dropped)
    too_many = tf.maximum(ids.row_lengths() - room, 0)
    kept = tf.cast(drop_middle(ids, too_many, chat.pieces_after_user), tf.int32)
    return UserPrompts(kept, ids_without(tf.zeros_like(counts)).row_lengths())


def read_dialogues(chat: Chat, messages: tf.RaggedTensor, system: tf.Tensor, room: int) -> ReadDialogues:
    """Returns dialogues as `Chat.encode` does, in a graph too.

    A dialogue that is longer than `room` loses its oldest exchanges, as in training. One exchange may still
    be longer.

    Args:
        messages: Texts of the turns of the user and of replies in turn, ragged string [batch, (turns)]. No
            turn at all is one that is empty.
        system: Instructions for each whole dialogue, string [batch]; empty for none.
    """
    own = _with_a_turn(messages)

    def read(dropped: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        return _pieces(chat, _texts(chat, _without_oldest(own, dropped), system, asks=False))

    counts = own.row_lengths()
    dropped = _dropped(lambda dropped: read(dropped)[0], counts, room, 2)
    return ReadDialogues(*read(dropped), read(tf.zeros_like(counts))[0].row_lengths())


def _with_a_turn(messages: tf.RaggedTensor) -> tf.RaggedTensor:
    """Returns dialogues, with a turn that is empty where there is none."""
    nothing = tf.cast(messages.row_lengths() == 0, tf.int64)
    empty = tf.RaggedTensor.from_row_lengths(tf.fill([tf.reduce_sum(nothing)], ""), nothing, validate=False)
    return tf.concat([messages.with_row_splits_dtype(tf.int64), empty], axis=1)


def _without_oldest(messages: tf.RaggedTensor, dropped: tf.Tensor) -> tf.RaggedTensor:
    """Returns dialogues without some of their oldest exchanges."""
    return _with_those(messages, _places(messages) >= 2 * tf.gather(dropped, messages.value_rowids()))


def _places(values: tf.RaggedTensor) -> tf.Tensor:
    """Returns the place of each value in its row, int64 [values].

    Flat: an operator on ragged tensors broadcasts their shapes, which is slow to trace.
    """
    return tf.ragged.range(values.row_lengths()).flat_values


def _with_those(values: tf.RaggedTensor, kept: tf.Tensor) -> tf.RaggedTensor:
    """Returns rows with some of their values: those for which `kept`, bool [values], is true."""
    return tf.ragged.boolean_mask(values, values.with_flat_values(kept))


def _dropped(
    ids_without: Callable[[tf.Tensor], tf.RaggedTensor], counts: tf.Tensor, room: int, least: int
) -> tf.Tensor:
    """Returns how many exchanges of each dialogue are left out so that it fits, int64 [batch].

    Args:
        counts: Turns of each dialogue, int64 [batch].
        least: Turns that are kept however long they are.
    """

    def is_too_long(dropped: tf.Tensor) -> tf.Tensor:
        return (ids_without(dropped).row_lengths() > room) & (counts - 2 * dropped > least)

    def drop(is_long: tf.Tensor, dropped: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        more = dropped + tf.cast(is_long, tf.int64)
        return is_too_long(more), more

    none = tf.zeros_like(counts)
    start = (is_too_long(none), none)
    _, dropped = tf.while_loop(lambda is_long, _: tf.reduce_any(is_long), drop, start, parallel_iterations=1)
    return dropped


def _texts(chat: Chat, messages: tf.RaggedTensor, system: tf.Tensor, asks: bool) -> tf.Tensor:
    """Returns dialogues as texts, string [batch], with special pieces as ids between marks.

    Args:
        asks: Whether what is before a reply is added at the end.
    """
    template = chat.template
    user, reply = template.user, template.assistant
    said = _own(system, template.system.trims)
    before, after = (chat.marked(each, _MARK) for each in (template.system.before, template.system.after))
    told = tf.where(said == "", "", tf.strings.join([before, said, after]))
    places = tf.ragged.range(messages.row_lengths()).flat_values
    inside = tf.where(places == 0, tf.gather(told, messages.value_rowids()), "")
    of_user = [
        chat.marked(user.before, _MARK),
        inside if template.system_inside else "",
        _own(messages.flat_values, user.trims),
        chat.marked(user.after, _MARK),
    ]
    of_model = [
        f"{chat.marked(reply.before, _MARK)}{_BREAK}{reply.lead}",
        _own(messages.flat_values, reply.trims),
        f"{chat.marked(reply.end, _MARK)}{_BREAK}{chat.marked(reply.after, _MARK)}",
    ]
    turns = tf.where(places % 2 == 0, tf.strings.join(of_user), tf.strings.join(of_model))
    parts = [
        tf.fill(tf.shape(system), chat.marked(template.start, _MARK)),
        "" if template.system_inside else told,
        tf.strings.reduce_join(messages.with_flat_values(turns), axis=1),
        chat.marked(reply.before, _MARK) if asks else "",
    ]
    return tf.strings.join(parts)


def _own(texts: tf.Tensor, trims: bool) -> tf.Tensor:
    plain = tf.strings.regex_replace(texts, _MARK, "\ufffd")
    return tf.strings.strip(plain) if trims else plain


def _pieces(chat: Chat, texts: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
    """Returns the pieces of texts with marks, and which a model writes: ragged int32 and bool."""
    parts = tf.strings.split(texts, _MARK)
    values, places = parts.flat_values, tf.ragged.range(parts.row_lengths()).flat_values
    is_id = places % 2 == 1
    is_special = is_id & (values != "")
    after_special = _later(is_special, 1)
    # A reply is between two breaks, and each dialogue has both of all its replies.
    is_break = tf.cast(is_id & (values == ""), tf.int32)
    is_written = tf.cumsum(is_break) % 2 == 1
    # A text after a break begins as what is before the break ended, if nothing is between the two.
    begins = (places == 0) | after_special | (_later(values == "", 2) & _later(after_special, 2))
    is_kept = is_special | (~is_id & (values != ""))
    splits = tf.ragged.boolean_mask(parts, parts.with_flat_values(is_kept)).row_splits
    values, begins, is_special, is_written = (
        tf.boolean_mask(each, is_kept) for each in (values, begins, is_special, is_written)
    )
    pieces = chat.tokenizer.tokenize_parts(tf.where(is_special, "", values), begins)
    of_texts = pieces.with_flat_values(~tf.gather(is_special, pieces.value_rowids()))
    own = tf.cast(tf.ragged.boolean_mask(pieces, of_texts), tf.int32)
    numbers = tf.strings.to_number(tf.boolean_mask(values, is_special), tf.int32)
    specials = tf.RaggedTensor.from_row_lengths(numbers, tf.cast(is_special, tf.int64), validate=False)
    both = tf.concat([specials, own.with_row_splits_dtype(tf.int64)], axis=1)
    own_splits = tf.gather(both.row_splits, splits)
    ids, written = (
        tf.RaggedTensor.from_row_splits(each, own_splits, validate=False)
        for each in (both.flat_values, tf.repeat(is_written, both.row_lengths()))
    )
    return ids, written


def _later(flags: tf.Tensor, places: int) -> tf.Tensor:
    """Returns flags so many places later."""
    return tf.concat([tf.zeros([places], tf.bool), flags], axis=0)[: tf.size(flags)]


class TurnsOfJson(NamedTuple):
    """Dialogues as `firth.tokenizers.dialogue_prompts` takes them.

    Attributes:
        messages: Texts of the turns of the user and of replies in turn, ragged string [batch, (turns)].
        system: Instructions for each whole dialogue, string [batch]; empty for none.
    """

    messages: tf.RaggedTensor
    system: tf.Tensor


def _object(first: str, second: str) -> str:
    return rf"\{{{_SPACE}{first}{_COMMA}{second}{_SPACE}\}}"


def _role_first(role: str) -> str:
    return _object(f'"role"{_COLON}"({role})"', f'"content"{_COLON}"({_STRING})"')


def _content_first(role: str) -> str:
    return _object(f'"content"{_COLON}"({_STRING})"', f'"role"{_COLON}"({role})"')


def _message(role: str) -> str:
    return f"(?:{_role_first(role)}|{_content_first(role)})"


_DIALOGUE = (
    rf"{_SPACE}\[{_SPACE}(?:{_message(SYSTEM)}{_COMMA})?{_message(USER)}"
    rf"(?:{_COMMA}{_message(ASSISTANT)}{_COMMA}{_message(USER)})*{_SPACE}\]{_SPACE}"
)
_ANY = f"{SYSTEM}|{USER}|{ASSISTANT}"


def turns_of_json(texts: tf.Tensor) -> TurnsOfJson:
    r"""Returns the turns of dialogues that are to be answered, from their JSON.

    Args:
        texts: Dialogues, string [batch]: `[{"role": "user", "content": "Hi"}, ...]`.

    Raises (when run):
        tf.errors.InvalidArgumentError: for a text that is not such a dialogue.

    Example:

    >>> found = turns_of_json(tf.constant(['[{"role": "user", "content": "\\u00e9 \\"a\\""}]']))
    >>> found.messages.to_list()[0][0].decode(), found.system.numpy().tolist()
    ('é "a"', [b''])
    """
    is_valid = tf.reduce_all(tf.strings.regex_full_match(texts, _DIALOGUE))
    with tf.control_dependencies([tf.debugging.Assert(is_valid, [f"text: {REFUSAL}"])]):
        marked = tf.strings.regex_replace(texts, _role_first(_ANY), rf"{_AROUND}\1{_AFTER_ROLE}\2{_AROUND}")
    # A string holds no quote without a backslash, so that nothing inside one looks like a message.
    marked = tf.strings.regex_replace(marked, _content_first(_ANY), rf"{_AROUND}\2{_AFTER_ROLE}\1{_AROUND}")
    parts = tf.strings.split(marked, _AROUND)
    is_message = tf.ragged.range(parts.row_lengths()).flat_values % 2 == 1
    turns = tf.ragged.boolean_mask(parts, parts.with_flat_values(is_message))
    is_system = tf.strings.regex_full_match(turns.flat_values, f"(?s){SYSTEM}{_AFTER_ROLE}.*")
    written = tf.strings.regex_replace(turns.flat_values, f"^[a-z]+{_AFTER_ROLE}", "", replace_global=False)
    contents = _unescaped(written)
    messages = turns.with_flat_values(contents)
    return TurnsOfJson(
        tf.ragged.boolean_mask(messages, turns.with_flat_values(~is_system)),
        tf.strings.reduce_join(turns.with_flat_values(tf.where(is_system, contents, "")), axis=1),
    )


def _unescaped(strings: tf.Tensor) -> tf.Tensor:
    """Returns strings of JSON, without their quotes, as the texts that they are.

    TensorFlow reads the JSON of tf.Examples alone: each string becomes the name of a feature in one.
    """
    # An op reads no empty batch.
    some = tf.concat([strings, [""]], axis=0)
    found = tf.io.decode_json_example(tf.strings.join(['{"features":{"feature":{"', some, '":{}}}}']))
    for message, field in _FIELDS:
        _, (values,) = tf.io.decode_proto(found, f"tensorflow.{message}", [field], [tf.string])
        found = values[:, 0]
    return found[:-1]
