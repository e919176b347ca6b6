"""Dialogues as pieces, by the template that is kept with a tokenizer: the same in rows and in serving.

What people type never becomes a special piece: their texts are read with `tokenize_parts`.
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth.recipes.tokenizers.chat_template import (
    ASSISTANT,
    SYSTEM,
    USER,
    ChatTemplate,
    Part,
    order_problem,
)

# Characters that `tf.strings.strip` removes.
SPACES = " \t\n\v\f\r"
_SHOWN = 3
Message = Mapping[str, str]


class ChatTemplateError(ValueError):
    """A template that does not fit a tokenizer, or messages that do not fit a template."""


class Stretch(NamedTuple):
    """A special piece of a dialogue, or a text that becomes pieces as a whole.

    Attributes:
        piece: Id of the piece; -1 for a text.
        texts: Parts of the text: texts, and numbers of the turns whose own texts are there.
        begins: True if a special piece, or nothing, is before the text.
        is_written: True if a model writes it, and not who asks the model.
    """

    piece: int
    texts: tuple[str | int, ...] = ()
    begins: bool = False
    is_written: bool = False


class EncodedDialogue(NamedTuple):
    """A dialogue as pieces.

    Attributes:
        ids: int32 [pieces].
        is_written: bool [pieces], True for what a model writes: replies and their ends.
    """

    ids: npt.NDArray[np.int32]
    is_written: npt.NDArray[np.bool_]


class UserPrompts(NamedTuple):
    """The prompts of some dialogues, before the model's reply.

    Attributes:
        ids: Ragged int32 [batch, (pieces)].
        given: int64 [batch], pieces that a prompt would have if the end of no user's text was left out.
    """

    ids: tf.RaggedTensor
    given: tf.Tensor


class Chat:
    r"""Writes dialogues with the template of a tokenizer.

    Attributes:
        tokenizer: The tokenizer that dialogues are written with.
        template: Its template.
        end_id: Id of the piece at which a reply stops.

    Example:

    >>> from firth.recipes.tokenizers.chat_template import TEMPLATES
    >>> from firth.tokenizers import WordPieceTokenizer
    >>> words = ["user", "assistant", ":", "hi", "hello", "you"]
    >>> pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    >>> chat = Chat(WordPieceTokenizer(pieces, chat_template=TEMPLATES["plain"]))
    >>> said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello you"}]
    >>> chat.text(said)
    '[CLS]User: Hi\nAssistant: Hello you[SEP]\n'
    >>> (made,) = chat.encode([said])
    >>> [pieces[each] for each in made.ids], made.is_written.astype(int).tolist()
    (['[CLS]', 'user', ':', 'hi', 'assistant', ':', 'hello', 'you', '[SEP]'], [0, 0, 0, 0, 0, 0, 1, 1, 1])
    >>> [pieces[each] for each in chat.prompt(said[:1])]
    ['[CLS]', 'user', ':', 'hi', 'assistant', ':']
    """

    def __init__(self, tokenizer: Any) -> None:
        template: ChatTemplate | None = tokenizer.chat_template
        if template is None:
            raise ChatTemplateError(
                "the tokenizer has no chat template; firth finetune --task dialogue keeps one with it"
            )
        self.template, self.tokenizer = template, tokenizer
        known = {part: found for part in template.parts for found in self._resolved(part)}
        self._known: Mapping[Part, int | str] = known
        end = [known[part] for part in template.assistant.end if part in known]
        if not end or isinstance(end[-1], str):
            raise ChatTemplateError(
                f"assistant.end: the vocabulary has no special piece at which a reply stops{self._specials()}"
            )
        self.end_id = next(each for each in end if not isinstance(each, str))

    def marked(self, parts: Sequence[Any], mark: str) -> str:
        """Returns parts of the template as one text, with the id of each special piece between marks."""
        return "".join(
            f"{mark}{each.piece}{mark}" if each.piece >= 0 else str(each.texts[0])
            for each in self._found(parts)
        )

    def named(self, parts: Sequence[Any]) -> Iterator[str | None]:
        """Yields the texts of parts, special pieces by their names; None where a message has its own text."""
        for each in self._found(parts):
            if each.piece >= 0:
                yield str(self.tokenizer.id_to_token(each.piece))
            else:
                yield each.texts[0] if isinstance(each.texts[0], str) else None

    @property
    def pieces_after_user(self) -> int:
        """The number of pieces between the text of the last turn of a user and the reply."""
        stretches = self.stretches([USER], asks=True)
        (own,) = (place for place, each in enumerate(stretches) if 0 in each.texts)
        after, rest = stretches[own].texts[stretches[own].texts.index(0) + 1 :], stretches[own + 1 :]
        texts = [after, *(each.texts for each in rest)]
        spelled = self._pieces_of([("".join(map(str, each)), False) for each in texts if each])
        return sum(map(len, spelled)) + sum(each.piece >= 0 for each in rest)

    def _resolved(self, part: Any) -> Iterator[int | str]:
        """Yields the id or the text of a part; nothing of a role that no piece plays."""
        tokenizer = self.tokenizer
        name = getattr(part, "piece", "") or tokenizer.specials.by_role.get(getattr(part, "role", ""))
        ids = [each for each in tokenizer.special_ids if tokenizer.id_to_token(each) == name]
        if getattr(part, "text", "") or (getattr(part, "or_text", False) and not ids):
            yield getattr(part, "text", "") or name
        elif ids:
            yield ids[0]
        elif name:
            known = name in tokenizer.get_vocabulary()
            problem = "is an ordinary piece, which any text may hold" if known else "is not in the vocabulary"
            raise ChatTemplateError(f"the template's piece {name!r} {problem}{self._specials(name)}")

    def _specials(self, name: str = "") -> str:
        pieces = [self.tokenizer.id_to_token(each) for each in self.tokenizer.special_ids]
        near = difflib.get_close_matches(name, pieces, n=_SHOWN, cutoff=0.0)
        return (
            f"; the nearest special pieces are {' '.join(near)}. The template `plain` needs none, and a "
            "template of your own may say `or_text: true` of a piece"
        )

    def stretches(self, speakers: Sequence[str], asks: bool = False) -> list[Stretch]:
        """Returns the pieces and texts of turns."""
        if problem := order_problem(speakers, asks):
            raise ChatTemplateError(problem)
        made: list[Stretch] = []
        template, inside = self.template, self.template.system_inside and speakers[0] == SYSTEM
        self._add(made, template.start)
        for number, speaker in enumerate(speakers):
            turn = template.turns[speaker]
            if inside and number == 0:
                continue
            self._add(made, turn.before)
            if inside and number == 1:
                self._add(made, (*template.system.before, 0, *template.system.after))
            if speaker == ASSISTANT:
                self._add(made, (template.assistant.lead, number, *template.assistant.end), is_written=True)
            else:
                self._add(made, (number,))
            self._add(made, turn.after)
        if asks:
            self._add(made, template.assistant.before)
        return made

    def _add(self, made: list[Stretch], parts: Sequence[Any], is_written: bool = False) -> None:
        """Adds parts: pieces, and texts, which are joined to a text before them that the same one writes."""
        for found in self._found(parts):
            if found.piece >= 0:
                made.append(found._replace(is_written=is_written))
            elif made and made[-1].texts and made[-1].is_written == is_written:
                made[-1] = made[-1]._replace(texts=made[-1].texts + found.texts)
            else:
                made.append(Stretch(-1, found.texts, not made or not made[-1].texts, is_written))

    def _found(self, parts: Sequence[Any]) -> Iterator[Stretch]:
        """Yields parts of a template, texts and numbers of turns, each as a stretch of its own."""
        for part in parts:
            if isinstance(part, str | int):
                text: str | int = part
            elif part in self._known:
                known = self._known[part]
                if not isinstance(known, str):
                    yield Stretch(known)
                    continue
                text = known
            else:
                continue
            if text != "":
                yield Stretch(-1, (text,))

    def _filled(self, stretch: Stretch, messages: Sequence[Message]) -> str:
        return "".join(each if isinstance(each, str) else self.own(messages[each]) for each in stretch.texts)

    def own(self, message: Message) -> str:
        """Returns the text of a message as a dialogue has it."""
        trims = self.template.turns[message["role"]].trims
        return message["content"].strip(SPACES) if trims else message["content"]

    def text(self, messages: Sequence[Message], asks: bool = False) -> str:
        """Returns a dialogue as one text, with special pieces by their names, for people.

        Raises:
            ChatTemplateError: for messages in an order that no dialogue has.
        """
        found = self.stretches(_speakers(messages), asks)
        return "".join(
            self._filled(each, messages) if each.texts else self.tokenizer.id_to_token(each.piece)
            for each in found
        )

    def encode(self, dialogues: Sequence[Sequence[Message]], asks: bool = False) -> list[EncodedDialogue]:
        """Returns dialogues as pieces.

        Raises:
            ChatTemplateError: for messages in an order that no dialogue has.
        """
        written = [(each, self.stretches(_speakers(each), asks)) for each in dialogues]
        texts = [(self._filled(each, said), each.begins) for said, of in written for each in of if each.texts]
        spelled = iter(self._pieces_of(texts))
        return [
            _joined([(each, next(spelled) if each.texts else [each.piece]) for each in of])
            for _, of in written
        ]

    def _pieces_of(self, texts: Sequence[tuple[str, bool]]) -> list[list[int]]:
        strings, begins = zip(*texts, strict=True) if texts else ((), ())
        with tf.init_scope():
            found = self.tokenizer.tokenize_parts(
                tf.constant(strings, tf.string), tf.constant(begins, tf.bool)
            )
            return [list(each) for each in found.to_list()]

    def prompt(self, messages: Sequence[Message]) -> npt.NDArray[np.int32]:
        """Returns the prompt of a reply, int32 [pieces].

        Raises:
            ChatTemplateError: for messages in an order that no dialogue has.
        """
        (found,) = self.encode([messages], asks=True)
        return found.ids

    def prompts(self, texts: tf.Tensor, room: int) -> UserPrompts:
        """Returns the prompts of dialogues of one turn, in a graph too.

        Args:
            texts: What each user says, string [batch].
        """
        stretches = self.stretches([USER], asks=True)
        given = texts if not self.template.user.trims else tf.strings.strip(texts)
        parts = [self._part(each, given) for each in stretches]
        (own,) = (place for place, each in enumerate(stretches) if 0 in each.texts)
        # The user's text gives way, and not what the template puts after it.
        after = stretches[own].texts[stretches[own].texts.index(0) + 1 :]
        kept_last = len(self._pieces_of([("".join(map(str, after)), False)])[0]) if after else 0
        lengths = tf.add_n([each.row_lengths() for each in parts])
        too_many = tf.maximum(lengths - room, 0)
        parts[own] = drop_middle(parts[own], too_many, kept_last)
        ids = tf.concat(parts, axis=1)
        return UserPrompts(tf.cast(ids, tf.int32), lengths)

    def _part(self, stretch: Stretch, texts: tf.Tensor) -> tf.RaggedTensor:
        """Returns the pieces of a stretch of each dialogue, ragged int32 [batch, (pieces)]."""
        batch = tf.shape(texts)[0]
        if 0 in stretch.texts:
            joined = tf.strings.join([each if isinstance(each, str) else texts for each in stretch.texts])
            return self.tokenizer.tokenize_parts(joined, tf.fill([batch], stretch.begins))
        own = [("".join(map(str, stretch.texts)), stretch.begins)] if stretch.texts else []
        (ids,) = self._pieces_of(own) if own else [[stretch.piece]]
        rows = tf.tile(tf.constant([ids], tf.int32, [1, len(ids)]), [batch, 1])
        return tf.RaggedTensor.from_tensor(rows, row_splits_dtype=tf.int64)


def drop_oldest(messages: Sequence[Message]) -> list[Message]:
    """Returns a dialogue without its oldest turn of the user and the reply to it; a system message stays.

    Example:

    >>> said = [{"role": who, "content": who[0]} for who in ("system", *("user", "assistant") * 2)]
    >>> [each["role"] for each in drop_oldest(said)], len(drop_oldest(said[1:3]))
    (['system', 'user', 'assistant'], 0)
    """
    first = int(messages[0]["role"] == SYSTEM)
    return [*messages[:first], *messages[first + 2 :]]


def drop_middle(ids: tf.RaggedTensor, count: tf.Tensor, last: int) -> tf.RaggedTensor:
    """Returns rows without some values that are before the last ones.

    Args:
        ids: Values, ragged [batch, (values)].
        count: How many are left out of each row, int64 [batch].
    """
    lengths = ids.row_lengths()
    places = tf.ragged.range(lengths).flat_values
    ends = tf.repeat(lengths - last, lengths)
    kept = (places >= ends) | (places < ends - tf.repeat(count, lengths))
    return tf.ragged.boolean_mask(ids, ids.with_flat_values(kept))


def _speakers(messages: Sequence[Message]) -> list[str]:
    return [each["role"] for each in messages]


def _joined(parts: Sequence[tuple[Stretch, Sequence[int]]]) -> EncodedDialogue:
    ids = [np.asarray(found, np.int32) for _, found in parts]
    written = [np.full(len(found), stretch.is_written) for stretch, found in parts]
    return EncodedDialogue(np.concatenate(ids), np.concatenate(written))
