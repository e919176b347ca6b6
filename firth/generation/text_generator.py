"""Base of generators: prompts in, texts out, on any engine."""

import abc
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from firth.generation.framing import FramedPrompt, PromptFraming
from firth.generation.results import Blocks, Generated, TextInProgress, TextStream
from firth.recipes.generation.request import GenerationRequest

# Tokens between two searches for a stop text.
BETWEEN_LOOKS = 8

Requests = GenerationRequest | Mapping[str, Any] | Sequence[GenerationRequest] | None


class TextGenerator(abc.ABC):
    """Base of classes that write texts after prompts.

    Attributes:
        framing: Layout of prompts.
        predicts_prompt: True if it can return the probabilities of a prompt's tokens.
    """

    framing: PromptFraming
    predicts_prompt: bool

    def generate(self, prompts: Any, requests: Requests = None, **values: Any) -> Any:
        """Returns the text that is written after a prompt, or after each of several.

        Args:
            prompts: A text, or a list of texts. Bytes must be UTF-8.
            requests: A `GenerationRequest`, or a mapping of its values; or one request for each prompt.
            **values: Values of a request by key, and of its sampler, such as `temperature`.

        Returns:
            A `Generated`, or a list of them.

        Raises:
            ValueError: for a prompt that is empty, is not UTF-8 or is longer than the model's positions, and
                for a value out of its range, each with one sentence.
        """
        if isinstance(prompts, str | bytes):
            return self.generate([prompts], requests, **values)[0]
        texts = self._begun(prompts, requests, values)
        found: list[Generated | None] = [None] * len(texts)
        for group in self._groups(texts):
            for _ in self.blocks([texts[each] for each in group]):
                pass
            for each in group:
                found[each] = texts[each].result()
        return found

    def reply(self, messages: Sequence[Mapping[str, str]], request: Requests = None, **values: Any) -> Any:
        """Returns the reply of a model that learned dialogues.

        Args:
            messages: Messages of the dialogue, each with its `role` and `content`, the last one of the user.
            request: A `GenerationRequest`, or a mapping of its values.
            **values: Values by key, as of `generate`.

        Returns:
            A `Generated`, whose text is the reply.

        Raises:
            ValueError: as `generate` does; for messages in an order that no dialogue has, and for a model
                whose prompts are texts.
        """
        if not self.framing.reads_turns:
            raise ValueError("the model did not learn dialogues: it writes after a text; see generate")
        return self.generate([messages], request, **values)[0]

    def stream(self, prompt: str | bytes, request: Requests = None, **values: Any) -> TextStream:
        """Returns an iterator over the pieces of a text as they are written, whole characters each.

        Args:
            prompt: A text.
            request: A `GenerationRequest`, or a mapping of its values.
            **values: Values by key, as of `generate`.

        Returns:
            The pieces; after the last one its attribute `result` is the `Generated`.

        Raises:
            ValueError: as `generate` does, at once.
        """
        (text,) = self._begun([prompt], request, values)
        return TextStream(text, self.blocks([text], steps=1))

    def check(self, request: GenerationRequest) -> None:
        """Raises an error if a request has a value that the model cannot honour.

        Args:
            request: Request to check.

        Raises:
            ValueError: if it cannot, naming the value.
        """
        if request.prompt_log_probabilities and not self.predicts_prompt:
            raise ValueError(
                "prompt_log_probabilities: the model reads a prompt whole, and predicts none of it"
            )

    def _begun(
        self, prompts: Sequence[Any], requests: Requests, values: Mapping[str, Any]
    ) -> list[TextInProgress]:
        asked = _requests(len(prompts), requests, values)
        return self.begun(self.framing.read(prompts) if len(prompts) else [], asked)

    def begun(
        self, prompts: Sequence[FramedPrompt], requests: Sequence[GenerationRequest]
    ) -> list[TextInProgress]:
        """Returns texts of which nothing is written yet.

        Args:
            prompts: Prompts as the model reads them.
            requests: A request for each prompt.

        Raises:
            ValueError: as `generate` does.
        """
        for request in requests:
            self.check(request)
        rooms = [
            self.framing.room(prompt) - self._ahead(request.sampler)
            for prompt, request in zip(prompts, requests)
        ]
        if min(rooms, default=1) < 1:
            raise ValueError(f"prompt {rooms.index(min(rooms))}: it leaves no place for a text")
        return [TextInProgress(self.framing, *each) for each in zip(prompts, requests, rooms, strict=True)]

    def _ahead(self, sampler: Any) -> int:
        """Returns the number of places that a sampler reads after its last token but one."""
        return int(sampler.reads_ahead)

    def _groups(self, texts: Sequence[TextInProgress]) -> list[list[int]]:
        groups: dict[Hashable, list[int]] = {}
        for number, text in enumerate(texts):
            groups.setdefault(self.shared(text), []).append(number)
        return list(groups.values())

    @abc.abstractmethod
    def shared(self, text: TextInProgress) -> Hashable:
        """Returns the key of texts that can be written together.

        Args:
            text: A text of which nothing is written yet.
        """

    @abc.abstractmethod
    def blocks(self, texts: Sequence[TextInProgress], steps: int | None = None) -> Blocks:
        """Writes texts of one key, and yields after each block of tokens.

        Args:
            texts: The texts.
            steps: Tokens of a block; None for the fastest number.
        """


def _requests(count: int, requests: Requests, values: Mapping[str, Any]) -> list[GenerationRequest]:
    if isinstance(requests, Sequence):
        if values or len(requests) != count:
            raise ValueError(
                f"{len(requests)} requests for {count} prompts, with {len(values)} further values"
            )
        return list(requests)
    if isinstance(requests, GenerationRequest):
        return [requests.with_changes(values)] * count
    return [GenerationRequest.with_values({**(requests or {}), **values})] * count
