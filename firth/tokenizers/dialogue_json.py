"""Dialogues as JSON, read inside the graph of a served model."""

from typing import NamedTuple

import tensorflow as tf

from firth.recipes.tokenizers.chat_template import ASSISTANT, SYSTEM, USER

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
