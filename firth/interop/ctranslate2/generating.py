"""Texts that CTranslate2 writes, behind the interface of `firth.generation`."""

import concurrent.futures
import hashlib
import os
import queue
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from firth.generation.results import TextInProgress
from firth.generation.text_generator import TextGenerator
from firth.generation.turns import framing_of
from firth.generation.writing import AT_END, AT_LENGTH, GOES_ON, DecodedTexts
from firth.interop.ctranslate2.converted import converted
from firth.interop.ctranslate2.decoding import arguments_of, is_random
from firth.interop.ctranslate2.runtimes import RUNTIMES, RuntimeRow, Scores
from firth.interop.extras import import_extra
from firth.models.bundle import read_recipe
from firth.recipes.generation.request import GenerationRequest
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

    def _shared(self, text: TextInProgress) -> Hashable:
        return (text.request.to_json(), text.most, self._runtime.length_that_counts(text))

    def _blocks(self, texts: Sequence[TextInProgress], steps: int | None = None) -> Iterator[None]:
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
                self._take(texts[row], ids[row][self._runtime.forced(texts[row]) :])
            arrived.put(True)
            ended = [each.has_ended for each in looks]
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
            is_end = bool(row.ids) and row.ids[-1] == self.framing.end_id
            self._take(text, row.ids, row.scores, AT_END if is_end else AT_LENGTH)

    def _take(
        self, text: TextInProgress, ids: list[int], scores: Scores | None = None, ended: int = GOES_ON
    ) -> None:
        found = np.zeros(len(ids), np.float32) if scores is None else scores
        text.take(DecodedTexts(np.array(ids, np.int32), found, len(ids), ended))


def _seed_of(seed: int) -> int:
    """Returns a seed of the runtime, of 32 bits, whose largest one asks for chance."""
    return int.from_bytes(hashlib.sha256(str(seed).encode()).digest()[:4], "big") % (2**32 - 1)
