"""firth's worker of `benchmarks.generation`: texts in and texts out, by either engine."""

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

    place = f"{folder}/bundle"
    if os.path.isdir(place):
        return place
    recipe = load_recipe(
        "gpt2_small",
        [
            f"tokenizer={{kind: wordpiece, vocabulary_size: {size.vocabulary}}}",
            f"sequences.length={size.positions}",
            f"model.layers={size.layers}",
            f"model.width={size.width}",
            f"model.attention.heads={size.heads}",
            f"model.feed_forward.width={4 * size.width}",
            f"model.positions.length={size.positions}",
            "training.precision=float32",
        ],
    )
    words = (f"w{number}" for number in range(size.vocabulary - len(_SPECIAL)))
    save_tokenizer(WordPieceTokenizer([*_SPECIAL, *words]), f"{folder}/tokenizer")
    save_model(build_model(recipe), recipe, f"{folder}/tokenizer", place)
    return place


class Model:
    """Writes after prompts; see `benchmarks.workers.generation_work`."""

    options = staticmethod(lambda dtype, folder: {"dtype": dtype})

    def __init__(self, size: GenerationSize, folder: str, dtype: str):
        import firth
        from firth.generation import load_generator

        self._size = size
        self._generator = load_generator(bundle_in(folder, size), **self.options(dtype, folder))
        self.versions = {"python": platform.python_version(), "firth": firth.__name__}

    def write(self, batch: int) -> int:
        """Returns how many tokens it has written."""
        # The prompt has a special token in front.
        drawn = np.random.default_rng(0).integers(
            0, self._size.vocabulary - len(_SPECIAL), (batch, self._size.prompt - 1)
        )
        prompts = [" ".join(f"w{number}" for number in row) for row in drawn]
        found = self._generator.generate(prompts, max_new_tokens=self._size.written)
        return sum(len(each.ids) for each in found)
