"""Framing of prompts: texts and dialogues become ids that a model reads, and written ids become text."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features as names
from firth.generation.token_reader import Prompts
from firth.recipes.base.types import configs_in, kinds_of
from firth.recipes.run.recipe import Recipe
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.tokenizers.chat_template import USER
from firth.tokenizers.chat import Chat, Message, drop_oldest
from firth.tokenizers.storage import AnyTokenizer


class FramedPrompt(NamedTuple):
    """A prompt as a model reads it.

    Attributes:
        ids: Its tokens with special ones.
        own: Its own tokens.
        characters: Characters of the tokens with special ones, int32 [tokens, max_characters], where the
            model reads words by them; otherwise None.
    """

    ids: tuple[int, ...]
    own: tuple[int, ...]
    characters: npt.NDArray[np.int32] | None


class NoTextError(ValueError):
    """Raised for a model that was not trained to write text."""


def _writing() -> list[str]:
    """Returns the kinds of objectives whose models write."""
    objectives: list[Any] = configs_in(Recipe.model_fields["objective"].annotation)
    return [kind for each in objectives if each.text_end for kind in kinds_of(each)]


class PromptFraming:
    """Layout and lengths of prompts and of the texts after them, by the goal of a run.

    Attributes:
        reads_turns: True if a prompt may be a list of messages.
        trims: True if the written text is without spaces at its beginning and its end.
        goal: Goal that the model was trained for.
        sequences: Rows of the recipe.
        tokenizer: The tokenizer.
        before: Ids of the special tokens in front of a prompt.
        after: Ids of the special tokens after it.
        start: Ids of the special tokens that a decoder next to an encoder starts from.
        end_id: Id of the token that ends a text.
        continues: True if prompt and written text are one text.
    """

    reads_turns: ClassVar[bool] = False
    trims: bool = False

    def __init__(self, recipe: RunRecipe, tokenizer: AnyTokenizer) -> None:
        goal: Any = recipe.goal
        if not goal.text_end:
            raise NoTextError(
                f"a model that was trained for {goal.kind} writes no text; one of these does: "
                f"{', '.join(_writing())}"
            )
        if getattr(goal, "pair", False):
            raise ValueError("the model writes after two texts; only its signature takes both")
        self.goal, self.sequences, self.tokenizer = goal, recipe.sequences, tokenizer
        self.before, self.after = map(self._ids, (goal.prompt_frame.before, goal.prompt_frame.after))
        self._rows = recipe.tokenizer.vocabulary_size
        self.start = self._ids(goal.decoder_start) if recipe.model.has_decoder else ()
        self.end_id = self._ids((goal.text_end,))[0]
        self.continues = not self.after and not self.start

    def _ids(self, roles: Sequence[str]) -> tuple[int, ...]:
        return tuple(getattr(self.tokenizer, f"{role}_id") for role in roles)

    @functools.cached_property
    def may_write(self) -> npt.NDArray[np.bool_]:
        """True for rows of the vocabulary that may be written, bool [rows]: text, the end, maybe sentinels.

        The model may have more rows than the tokenizer has pieces.
        """
        rows = np.arange(self._rows)
        sentinels = self.tokenizer.sentinel_ids if self.goal.writes_sentinels else ()
        special = np.setdiff1d(self.tokenizer.special_ids, [*sentinels, self.end_id])
        return (rows < self.tokenizer.vocabulary_size()) & ~np.isin(rows, special)

    def read(self, texts: Sequence[str | bytes]) -> list[FramedPrompt]:
        """Returns prompts as the model reads them, in its own normalisation.

        Raises:
            ValueError: for a text that is not UTF-8, is empty, or is longer than the model's positions.
        """
        encoded = [self.goal.prompt_prefix.encode() + utf8(text, n) for n, text in enumerate(texts)]
        ids = self.tokenizer.tokenize(tf.constant(encoded, tf.string)).to_list()
        words = self.tokenizer.split(tf.constant(encoded)).to_list() if self.reads_words else ids
        return [self._framed(number, own, spelled) for number, (own, spelled) in enumerate(zip(ids, words))]

    @property
    def reads_words(self) -> bool:
        """True if the model reads words by their characters."""
        return bool(self.tokenizer.max_characters)

    def _framed(self, number: int, own: Sequence[int], words: Sequence[Any]) -> FramedPrompt:
        if not own:
            raise ValueError(f"prompt {number}: it is empty; at least one token is needed")
        ids = (*self.before, *own, *self.after)
        most = self.goal.prompt_places(self.sequences)
        if len(ids) > most:
            raise ValueError(
                f"prompt {number}: it has {len(ids):,} tokens with its special ones; the model reads {most:,}"
            )
        characters = self._characters(words) if self.reads_words else None
        return FramedPrompt(ids, tuple(own), characters)

    def of_ids(self, ids: Sequence[int]) -> FramedPrompt:
        """Returns a prompt that is given as the model's tokens, with the special ones.

        Raises:
            ValueError: if the model reads words by their characters, which tokens do not have.
        """
        if self.reads_words:
            raise ValueError("the model reads words by their characters: give texts")
        own = ids[len(self.before) : len(ids) - len(self.after)]
        return FramedPrompt(tuple(ids), tuple(own), None)

    def _characters(self, words: Sequence[bytes]) -> npt.NDArray[np.int32]:
        spelled = self.tokenizer.characters(tf.constant(words)).numpy()
        marks = [self.tokenizer.bos_characters] * len(self.before)
        return np.concatenate([np.stack(marks), spelled]).astype(np.int32)

    @property
    def most_read(self) -> int:
        """Most tokens of a prompt, special ones included."""
        return int(self.goal.prompt_places(self.sequences))

    @property
    def most_written(self) -> int:
        """Most tokens of a text after an empty prompt, the end included."""
        return int(self.goal.written_places(self.sequences, 0))

    def room(self, prompt: FramedPrompt) -> int:
        """Returns the most tokens that can be written after a prompt, the end included."""
        return self.goal.written_places(self.sequences, len(prompt.ids))

    def batch(self, prompts: Sequence[FramedPrompt]) -> Prompts:
        """Returns prompts as one batch, as long as the next power of two, or as the longest that is read."""
        longest = max(len(each.ids) for each in prompts)
        length = min(max(1 << (longest - 1).bit_length(), 8), self.goal.prompt_places(self.sequences))
        ids = np.full((len(prompts), length), self.tokenizer.pad_id, np.int32)
        for row, each in enumerate(prompts):
            ids[row, : len(each.ids)] = each.ids
        lengths = tf.constant([len(each.ids) for each in prompts], tf.int32)
        facts = {names.CHARACTERS: _padded(prompts, length)} if self.reads_words else {}
        return Prompts(tf.constant(ids), lengths, facts)

    def text(self, prompt: FramedPrompt, ids: Sequence[int]) -> bytes:
        """Returns the text of written tokens, in UTF-8; it may end inside a character."""
        # Not by `detokenize`, whose calls would take longer than a token: a stream asks for the text at each.
        return self.tokenizer.text_of(ids, prompt.own if self.continues else ())

    def pieces(self, ids: Sequence[int]) -> tuple[str, ...]:
        """Returns tokens as the vocabulary has them."""
        return tuple(self.tokenizer.id_to_token(int(each)) for each in ids)


class TurnsFraming(PromptFraming):
    """Layout of dialogues, by the chat template of the tokenizer, for a model that learned dialogues.

    A prompt is a message of the user, or a list of messages. If a dialogue is too long, its oldest turns are
    left out, as in training.

    Raises:
        ChatTemplateError: if the tokenizer has no template that fits it.
    """

    reads_turns: ClassVar[bool] = True

    def __init__(self, recipe: RunRecipe, tokenizer: AnyTokenizer) -> None:
        super().__init__(recipe, tokenizer)
        self.chat = Chat(tokenizer)
        self.end_id, self.continues = self.chat.end_id, False
        self.trims = self.chat.template.assistant.trims

    def read(self, texts: Sequence[Any]) -> list[FramedPrompt]:
        """Returns dialogues as the model reads them.

        Raises:
            ValueError: for messages in an order that no dialogue has, for a text that is not UTF-8, and for a
                last turn that is too long for the model.
        """
        return [self._of_dialogue(number, _messages(each, number)) for number, each in enumerate(texts)]

    def _of_dialogue(self, number: int, messages: Sequence[Message]) -> FramedPrompt:
        ids, most = self.chat.prompt(messages), self.goal.prompt_places(self.sequences)
        while len(ids) > most:
            messages = drop_oldest(messages)
            if not messages or messages[-1]["role"] != USER:
                raise ValueError(
                    f"prompt {number}: its last turn has more tokens than the {most:,} that are read"
                )
            ids = self.chat.prompt(messages)
        return FramedPrompt(tuple(map(int, ids)), (), None)

    def of_ids(self, ids: Sequence[int]) -> FramedPrompt:
        """Returns a dialogue that is given as the model's tokens."""
        return FramedPrompt(tuple(ids), (), None)

    def text(self, prompt: FramedPrompt, ids: Sequence[int]) -> bytes:
        """Returns the text of a reply, in UTF-8; it may end inside a character."""
        found = super().text(prompt, ids)
        return found.strip() if self.trims else found


# By a goal's `prompted_with`.
FRAMINGS: Mapping[str, type[PromptFraming]] = {"text": PromptFraming, "turns": TurnsFraming}


def framing_of(recipe: RunRecipe, tokenizer: AnyTokenizer) -> PromptFraming:
    """Returns the framing of a model's prompts.

    Raises:
        ValueError: if the model writes no text.
    """
    return FRAMINGS[recipe.goal.prompted_with](recipe, tokenizer)


def _messages(prompt: Any, number: int) -> list[Message]:
    if isinstance(prompt, str | bytes):
        return [{"role": USER, "content": utf8(prompt, number).decode()}]
    return [{"role": each["role"], "content": utf8(each["content"], number).decode()} for each in prompt]


def utf8(text: str | bytes, number: int) -> bytes:
    """Returns a prompt in UTF-8."""
    try:
        encoded = text.encode() if isinstance(text, str) else bytes(text)
        encoded.decode()
    except UnicodeError as error:
        place = getattr(error, "start", 0)
        raise ValueError(f"prompt {number}: it is not UTF-8 from place {place} on") from None
    return encoded


def _padded(prompts: Sequence[FramedPrompt], length: int) -> tf.Tensor:
    """Returns the characters of a batch, int32 [batch, length, max_characters]."""
    found = [each.characters for each in prompts if each.characters is not None]
    padded = [np.pad(each, ((0, length - len(each)), (0, 0))) for each in found]
    return tf.constant(np.stack(padded))
