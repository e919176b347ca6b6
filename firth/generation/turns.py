"""Dialogues to what a model reads before it replies, and replies back to text."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from firth.generation.framing import FramedPrompt, PromptFraming, utf8
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.tokenizers.chat_template import USER
from firth.tokenizers.chat import Chat, Message, without_oldest
from firth.tokenizers.storage import AnyTokenizer


class TurnsFraming(PromptFraming):
    """How a model that learned dialogues reads turns and writes replies, by the template of its tokenizer.

    A prompt is what a user says, or a list of messages. Of a dialogue that is too long the oldest turns are
    left out, as in training.

    Raises:
        ChatTemplateError: if the tokenizer has no template that fits it.
    """

    reads_turns: ClassVar[bool] = True

    def __init__(self, recipe: RunRecipe, tokenizer: AnyTokenizer) -> None:
        super().__init__(recipe, tokenizer)
        self.chat = Chat(tokenizer)
        self.end_id, self.continues = self.chat.end_id, False

    def read(self, texts: Sequence[Any]) -> list[FramedPrompt]:
        """Returns dialogues as the model reads them.

        Raises:
            ValueError: for messages in an order that no dialogue has, for a text that is not UTF-8, and for a
                last turn that is longer than the model reads.
        """
        return [self._of_dialogue(number, _messages(each, number)) for number, each in enumerate(texts)]

    def _of_dialogue(self, number: int, messages: Sequence[Message]) -> FramedPrompt:
        ids, most = self.chat.prompt(messages), self.goal.prompt_places(self.sequences)
        while len(ids) > most:
            messages = without_oldest(messages)
            if not messages or messages[-1]["role"] != USER:
                raise ValueError(
                    f"prompt {number}: its last turn has more tokens than the {most:,} that are read"
                )
            ids = self.chat.prompt(messages)
        return FramedPrompt(tuple(map(int, ids)), (), None)

    def text(self, prompt: FramedPrompt, ids: Sequence[int]) -> bytes:
        """Returns the reply that tokens are, in UTF-8, maybe cut in a character."""
        found = super().text(prompt, ids)
        return found.strip() if self.chat.template.assistant.trims else found


def framing_of(recipe: RunRecipe, tokenizer: AnyTokenizer) -> PromptFraming:
    """Returns how the prompts of a model are laid out.

    Raises:
        ValueError: if the model writes no text.
    """
    return FRAMINGS[recipe.goal.prompted_with](recipe, tokenizer)


# By a goal's `prompted_with`.
FRAMINGS: Mapping[str, type[PromptFraming]] = {"text": PromptFraming, "turns": TurnsFraming}


def _messages(prompt: Any, number: int) -> list[Message]:
    if isinstance(prompt, str | bytes):
        return [{"role": USER, "content": utf8(prompt, number).decode()}]
    return [{"role": each["role"], "content": utf8(each["content"], number).decode()} for each in prompt]
