"""firth's worker of `benchmarks.generation`: texts in and texts out, by either engine."""

import concurrent.futures
import multiprocessing
import os
import platform

import numpy as np

from benchmarks.workers.generation_sizes import GenerationSize

_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def bundle_in(folder: str, size: GenerationSize) -> str:
    """Returns the bundle of random weights in a folder, which is written if it is not there yet."""
    from firth.models import build_model, save_model
    from firth.recipes import load_recipe
    from firth.tokenizers import WordPieceTokenizer, save_tokenizer

    place = f"{folder}/{size.preset}"
    if os.path.isdir(place):
        return place
    positions = [] if size.family == "t5" else [f"model.positions.length={size.positions}"]
    recipe = load_recipe(
        size.preset,
        [
            f"tokenizer={{kind: wordpiece, vocabulary_size: {size.vocabulary}, sentinels: {size.sentinels}}}",
            f"sequences.length={size.positions}",
            f"model.layers={size.layers}",
            f"model.width={size.width}",
            f"model.attention.heads={size.heads}",
            f"model.feed_forward.width={size.feed_forward}",
            *positions,
            "training.precision=float32",
        ],
    )
    words = [f"w{number}" for number in range(_words_of(size))]
    sentinels = [f"<extra_id_{number}>" for number in reversed(range(size.sentinels))]
    save_tokenizer(WordPieceTokenizer([*_SPECIAL, *words, *sentinels]), f"{folder}/tokenizer_{size.preset}")
    model = build_model(recipe)
    # Rows of zeros are never the likeliest: no text ends before its time.
    table = model.backbone.token_embedding.table
    values = table.numpy()
    values[: len(_SPECIAL)] = 0.0
    table.assign(values)
    save_model(model, recipe, f"{folder}/tokenizer_{size.preset}", place)
    return place


def _words_of(size: GenerationSize) -> int:
    return size.vocabulary - len(_SPECIAL) - size.sentinels


class Model:
    """Writes after prompts; see `benchmarks.workers.generation_work`."""

    options = staticmethod(lambda dtype, folder, size: {"dtype": dtype})

    def __init__(self, size: GenerationSize, folder: str, dtype: str):
        import firth
        from firth.generation import load_generator

        self._size = size
        # What is held while a bundle is made does not count in this process's peak memory.
        with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            bundle = pool.submit(bundle_in, folder, size).result()
        self._generator = load_generator(bundle, **self.options(dtype, folder, size))
        self.versions = {"python": platform.python_version(), "firth": firth.__name__}

    def write(self, batch: int) -> int:
        """Returns how many tokens it has written."""
        framing = self._generator.framing
        words = self._size.prompt - len(framing.before) - len(framing.after)
        drawn = np.random.default_rng(0).integers(0, _words_of(self._size), (batch, words))
        prompts = [" ".join(f"w{number}" for number in row) for row in drawn]
        found = self._generator.generate(prompts, max_new_tokens=self._size.written)
        return sum(len(each.ids) for each in found)
