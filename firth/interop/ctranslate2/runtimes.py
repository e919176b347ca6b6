"""The two runtimes of CTranslate2 that write: one stack, and a decoder next to an encoder."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from firth.generation.framing import PromptFraming
from firth.generation.results import TextInProgress
from firth.interop.errors import import_extra
from firth.recipes.generation.request import GenerationRequest

Scores = npt.NDArray[np.float32]


class RuntimeRow(NamedTuple):
    """The tokens that a runtime wrote after a prompt.

    Attributes:
        ids: Tokens, the end among them.
        scores: Natural logarithms of their probabilities, float32 [tokens]; None unless asked for.
    """

    ids: list[int]
    scores: Scores | None


class WritingRuntime:
    """The base of both: names of tokens, and which of them are never written.

    Attributes:
        predicts_prompt: Whether it tells how probable the tokens of a prompt are.
    """

    predicts_prompt = False

    def __init__(self, framing: PromptFraming, names: Sequence[str], runtime: Any) -> None:
        self._framing, self._runtime = framing, runtime
        self._names = [*names, *(f"[unused{row}]" for row in range(len(names), len(framing.may_write)))]
        self._common = {
            "suppress_sequences": [[self._names[row]] for row in np.flatnonzero(~framing.may_write)],
            "return_end_token": True,
        }

    @property
    def compute_type(self) -> str:
        """The type that products are computed in."""
        return str(self._runtime.compute_type)

    def _named(self, ids: Sequence[int]) -> list[str]:
        return [self._names[each] for each in ids]

    def _options(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the arguments of a call; the runtime refuses a `sampling_topk` above its vocabulary."""
        likeliest = min(arguments["sampling_topk"], len(self._names))
        return {**self._common, **arguments, "sampling_topk": likeliest}

    def check(self, request: GenerationRequest) -> None:
        """Passes if a request can be honoured; here any can."""

    def length_that_counts(self, text: TextInProgress) -> int:
        """Returns the length of a prompt, where only prompts of one length can share a call; here 0."""
        return 0

    def forced(self, text: TextInProgress) -> int:
        """Returns how many tokens the runtime gives before those that it has written."""
        raise NotImplementedError

    def may_stop(self, ended: Sequence[bool], row: int) -> bool:
        """Returns whether the runtime may stop where one text has ended."""
        raise NotImplementedError

    def prompt_log_probabilities(self, text: TextInProgress) -> Scores:
        """Returns how probable the tokens of a prompt are, where `predicts_prompt` says so."""
        raise NotImplementedError

    def write(self, texts: Sequence[TextInProgress], arguments: Mapping[str, Any]) -> list[RuntimeRow]:
        """Returns the continuations of prompts, which share a request and the most tokens to write."""
        raise NotImplementedError


class DecoderRuntime(WritingRuntime):
    """A `ctranslate2.Generator`."""

    predicts_prompt = True

    def __init__(self, folder: str, framing: PromptFraming, names: Sequence[str]) -> None:
        (library,) = import_extra("ctranslate2", "ctranslate2")
        super().__init__(framing, names, library.Generator(folder))

    def length_that_counts(self, text: TextInProgress) -> int:
        """Returns the length of the prompt, if it is to be penalised; see the base."""
        return len(text.prompt.ids) if _is_penalised(text) else 0

    def forced(self, text: TextInProgress) -> int:
        """Returns the tokens of a prompt that is to be penalised, without the first; see the base."""
        return max(self.length_that_counts(text) - 1, 0)

    def may_stop(self, ended: Sequence[bool], row: int) -> bool:
        """Returns whether the text has ended."""
        return ended[row]

    def write(self, texts: Sequence[TextInProgress], arguments: Mapping[str, Any]) -> list[RuntimeRow]:
        """Returns the continuations of prompts, which share a request and the most tokens to write."""
        # Only a prompt that is a part of the result is penalised.
        forced = self.forced(texts[0])
        found = self._runtime.generate_batch(
            [self._named(text.prompt.ids) for text in texts],
            max_length=texts[0].most + forced,
            include_prompt_in_result=_is_penalised(texts[0]),
            **self._options(arguments),
        )
        ids = [list(each.sequences_ids[0][forced:]) for each in found]
        is_asked = texts[0].request.log_probabilities
        return [
            RuntimeRow(own, self._scores(text, own) if is_asked else None) for text, own in zip(texts, ids)
        ]

    def _scores(self, text: TextInProgress, ids: Sequence[int]) -> Scores:
        logits = self._logits([*text.prompt.ids, *ids[:-1]])[len(text.prompt.ids) - 1 :]
        return _chosen(np.where(self._framing.may_write, logits, -np.inf), ids)

    def prompt_log_probabilities(self, text: TextInProgress) -> Scores:
        """Returns the logarithm of each token's probability after those before it; the first one's is 0."""
        ids = text.prompt.ids
        return np.concatenate([np.zeros(1, np.float32), _chosen(self._logits(ids)[:-1], ids[1:])])

    def _logits(self, ids: Sequence[int]) -> npt.NDArray[Any]:
        return np.asarray(self._runtime.forward_batch([list(ids)]), np.float32)[0]


class EncoderDecoderRuntime(WritingRuntime):
    """A `ctranslate2.Translator`."""

    def __init__(self, folder: str, framing: PromptFraming, names: Sequence[str]) -> None:
        (library,) = import_extra("ctranslate2", "ctranslate2")
        super().__init__(framing, names, library.Translator(folder))
        # It starts from the first by itself.
        self._prefix = self._named(framing.start[1:])

    def check(self, request: GenerationRequest) -> None:
        """Passes if a request can be honoured; see the base."""
        penalty: float = getattr(request.sampler, "length_penalty", 0.0)
        if self._prefix and penalty:
            raise ValueError(
                "length_penalty: the engine ctranslate2 counts a special token of this decoder too; give 0, "
                "or take keras"
            )
        if request.log_probabilities and request.repetition_penalty != 1.0:
            raise ValueError(
                "log_probabilities: next to an encoder the engine ctranslate2 tells them after "
                "repetition_penalty only; leave one of both out"
            )

    def forced(self, text: TextInProgress) -> int:
        """Returns the special tokens that the decoder starts from, without the first; see the base."""
        return len(self._prefix)

    def may_stop(self, ended: Sequence[bool], row: int) -> bool:
        """Returns whether all texts have ended: the runtime stops all at once."""
        return all(ended)

    def write(self, texts: Sequence[TextInProgress], arguments: Mapping[str, Any]) -> list[RuntimeRow]:
        """Returns the continuations of prompts, which share a request and the most tokens to write."""
        is_asked, forced = texts[0].request.log_probabilities, len(self._prefix)
        found = self._runtime.translate_batch(
            [self._named(text.prompt.ids) for text in texts],
            target_prefix=[self._prefix] * len(texts) if self._prefix else None,
            max_decoding_length=texts[0].most + forced,
            min_decoding_length=0,
            max_input_length=0,
            return_logits_vocab=is_asked,
            **self._options(arguments),
        )
        numbers = {name: row for row, name in enumerate(self._names)}
        rows = []
        for each in found:
            ids = [numbers[token] for token in each.hypotheses[0][forced:]]
            logits = [np.asarray(step, np.float32) for step in each.logits[0][forced:]] if is_asked else []
            rows.append(RuntimeRow(ids, _chosen(np.stack(logits), ids) if logits else None))
        return rows


# The key is true for an encoder-decoder.
RUNTIMES: dict[bool, type[DecoderRuntime] | type[EncoderDecoderRuntime]] = {
    False: DecoderRuntime,
    True: EncoderDecoderRuntime,
}


def _is_penalised(text: TextInProgress) -> bool:
    return text.request.repetition_penalty != 1.0


def _chosen(logits: npt.NDArray[Any], ids: Sequence[int]) -> Scores:
    """Returns the logarithm of the probability of one token at each place, float32 [places]."""
    highest = logits.max(axis=1, keepdims=True)
    total = highest[:, 0] + np.log(np.exp(logits - highest).sum(axis=1))
    return (logits[np.arange(len(ids)), list(ids)] - total).astype(np.float32)
