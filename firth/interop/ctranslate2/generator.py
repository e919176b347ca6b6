"""Texts that CTranslate2 writes, behind the interface of `firth.generation`."""

import concurrent.futures
import hashlib
import os
import queue
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from firth.generation.framing import framing_of
from firth.generation.results import Blocks, TextInProgress
from firth.generation.text_generator import TextGenerator
from firth.generation.writer import AT_END, AT_LENGTH, RUNNING, DecodedTexts
from firth.interop.ctranslate2.encoder import EncodingModel
from firth.interop.ctranslate2.exporting import converted
from firth.interop.ctranslate2.runtimes import RUNTIMES, RuntimeRow, Scores
from firth.interop.errors import import_extra
from firth.models.bundle import read_recipe
from firth.recipes.base.errors import suggest
from firth.recipes.generation.request import GenerationRequest
from firth.recipes.generation.samplers import BeamSearch, Sampling
from firth.recipes.run.base import TOKENIZER_FOLDER
from firth.tokenizers.storage import load_tokenizer

# The runtime's seed is one of the process.
_SEEDING = threading.Lock()


class CTranslate2Generator(TextGenerator):
    """Writes texts with a model of CTranslate2.

    A seed is read by the runtime when the thread that it writes in begins. So a request that draws begins a
    new one, which loads the model again, and the texts of one call come out of one stream of numbers: the
    same prompts with the same request give the same texts, but a text may be another one with other prompts
    in the call, and is not that of the Keras model.

    Args:
        folder: Path of a bundle, or of what `firth export --format ctranslate2` wrote.
        quantization: Type that weights are rounded to, such as `int8`; None for float32.
        cache: Folder in which the model of a bundle is kept; see `converted`.

    Raises:
        InteropError: if CTranslate2 does not run the model, or there is no such quantization.
        ValueError: if the model does not write.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        quantization: str | None = None,
        cache: str | os.PathLike[str] | None = None,
    ) -> None:
        self.recipe = read_recipe(folder)
        self.tokenizer = load_tokenizer(os.path.join(folder, TOKENIZER_FOLDER))
        self.framing = framing_of(self.recipe, self.tokenizer)
        made = converted(folder, quantization, cache)
        self._load = lambda: RUNTIMES[self.recipe.model.has_decoder](
            made, self.framing, self.tokenizer.get_vocabulary()
        )
        self._runtime = self._load()
        self.predicts_prompt = self._runtime.predicts_prompt

    @property
    def computes_in(self) -> str:
        """The type that products are computed in, which is float32 where the machine has no faster way."""
        return str(self._runtime.compute_type)

    def check(self, request: GenerationRequest) -> None:
        """Passes if the runtime can honour a request; see `TextGenerator`.

        Args:
            request: What is asked for.

        Raises:
            ValueError: if it cannot, naming the value.
        """
        super().check(request)
        arguments_of(request)
        self._runtime.check(request)

    def shared(self, text: TextInProgress) -> Hashable:
        """Returns the key of texts that can be written together.

        Args:
            text: A text of which nothing is written yet.
        """
        return (text.request.to_json(), text.most, self._runtime.length_that_counts(text))

    def blocks(self, texts: Sequence[TextInProgress], steps: int | None = None) -> Blocks:
        """Writes texts of one key, and yields after each block of tokens; see `TextGenerator`.

        Args:
            texts: The texts.
            steps: Tokens of a block; None for the fastest number.
        """
        request = texts[0].request
        if arguments_of(request)["beam_size"] > 1 or (steps is None and not request.stop):
            self._finish(texts, self._written(texts, None))
            yield
            return
        arrived: queue.SimpleQueue[bool] = queue.SimpleQueue()
        ids: list[list[int]] = [[] for _ in texts]
        # What says that a stop has come; the text itself ends when its probabilities are known.
        looks = [TextInProgress(self.framing, text.prompt, text.request) for text in texts]
        is_left = threading.Event()

        def take(step: Any) -> bool:
            row = step.batch_id
            ids[row].append(step.token_id)
            self._take(looks[row], ids[row][self._runtime.forced(texts[row]) :])
            if not looks[row].has_ended:
                # Its probabilities are known when all texts have ended.
                is_known = step.is_last and not request.log_probabilities
                own = ids[row][self._runtime.forced(texts[row]) :]
                self._take(texts[row], own, ended=self._end_of(own) if is_known else RUNNING)
            arrived.put(True)
            ended = [one.has_ended or other.has_ended for one, other in zip(looks, texts)]
            return is_left.is_set() or self._runtime.may_stop(ended, row)

        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            call = pool.submit(self._written, texts, take)
            call.add_done_callback(lambda _: arrived.put(False))
            try:
                while arrived.get():
                    yield
            finally:
                is_left.set()
        self._finish(texts, call.result())
        yield

    def _written(
        self, texts: Sequence[TextInProgress], callback: Callable[[Any], bool] | None
    ) -> list[RuntimeRow]:
        request = texts[0].request
        arguments = {**arguments_of(request), "callback": callback}
        if not is_random(request):
            return self._runtime.write(texts, arguments)
        (library,) = import_extra("ctranslate2", "ctranslate2")
        with _SEEDING:
            library.set_random_seed(_seed_of(request.seed))
            self._runtime = self._load()
            return self._runtime.write(texts, arguments)

    def _finish(self, texts: Sequence[TextInProgress], rows: Sequence[RuntimeRow]) -> None:
        for text, row in zip(texts, rows, strict=True):
            if text.request.prompt_log_probabilities:
                text.take_prompt(self._runtime.prompt_log_probabilities(text))
            self._take(text, row.ids, row.scores, self._end_of(row.ids))

    def _end_of(self, ids: Sequence[int]) -> int:
        return AT_END if ids and ids[-1] == self.framing.end_id else AT_LENGTH

    def _take(
        self, text: TextInProgress, ids: list[int], scores: Scores | None = None, ended: int = RUNNING
    ) -> None:
        found = np.zeros(len(ids), np.float32) if scores is None else scores
        text.take(DecodedTexts(np.array(ids, np.int32), found, len(ids), ended))


def _seed_of(seed: int) -> int:
    """Returns a seed of the runtime, of 32 bits, whose largest one asks for chance."""
    return int.from_bytes(hashlib.sha256(str(seed).encode()).digest()[:4], "big") % (2**32 - 1)


_REFUSAL = "the engine ctranslate2 has no such value; leave it out or take keras"
# Values that the runtime has nothing for.
_LACKING = (
    "constraint",
    "presence_penalty",
    "frequency_penalty",
    "no_repeat_ngram_size",
    "min_new_tokens",
    "logit_bias",
)


def _greedy(sampler: Any) -> dict[str, Any]:
    return {"beam_size": 1, "sampling_topk": 1}


def _sample(sampler: Sampling) -> dict[str, Any]:
    _refuse(sampler, ("min_p", "typical_p"))
    if sampler.temperature == 0.0:
        return _greedy(sampler)
    return {
        "beam_size": 1,
        # All of the vocabulary.
        "sampling_topk": sampler.top_k or 0,
        "sampling_topp": sampler.top_p,
        "sampling_temperature": sampler.temperature,
    }


def _beam(sampler: BeamSearch) -> dict[str, Any]:
    _refuse(sampler, ("n_best",))
    if sampler.early_stopping is not True:
        raise ValueError(
            "early_stopping: the engine ctranslate2 ends a search when as many texts have ended as there are "
            "beams; give true, or take keras"
        )
    return {"beam_size": sampler.beams, "length_penalty": sampler.length_penalty, "sampling_topk": 1}


# By the kind of a sampler, from it to arguments of the runtime.
ARGUMENTS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "greedy": _greedy,
    "sample": _sample,
    "beam": _beam,
}


def arguments_of(request: GenerationRequest) -> dict[str, Any]:
    """Returns the arguments of CTranslate2's decoding for a request.

    Example:

    >>> arguments_of(GenerationRequest())
    {'beam_size': 1, 'sampling_topk': 1, 'repetition_penalty': 1.0}
    >>> arguments_of(GenerationRequest(presence_penalty=0.5))
    Traceback (most recent call last):
        ...
    ValueError: presence_penalty: the engine ctranslate2 has no such value; leave it out or take keras
    """
    _refuse(request, _LACKING)
    if request.sampler.kind not in ARGUMENTS:
        raise ValueError(
            f"sampler: the engine ctranslate2 has no {request.sampler.kind}, as keras has; "
            f"{suggest(request.sampler.kind, ARGUMENTS)}"
        )
    return {
        **ARGUMENTS[request.sampler.kind](request.sampler),
        "repetition_penalty": request.repetition_penalty,
    }


def is_random(request: GenerationRequest) -> bool:
    """Returns whether something is drawn."""
    return request.sampler.is_random and arguments_of(request)["sampling_topk"] != 1


def _refuse(part: Any, names: tuple[str, ...]) -> None:
    usual: Mapping[str, Any] = {name: part.__class__.model_fields[name].default for name in names}
    for name in names:
        if getattr(part, name) != usual[name]:
            raise ValueError(f"{name}: {_REFUSAL}")


# Each engine has these two names; `firth.generation.engines` looks them up.
generator_of, model_of = CTranslate2Generator, EncodingModel
