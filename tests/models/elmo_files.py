"""What the tests of ELMo read: AllenNLP's fixture, and words as its model reads them, in plain Python."""

import os
import pathlib

import numpy as np
import pytest

SHARED_DATA = pathlib.Path(
    os.environ.get("FIRTH_SHARED_DATA", pathlib.Path(__file__).parents[2].parent / "shared" / "data")
)
BEGIN, END = "<S>", "</S>"
# The numbers are AllenNLP's, which count a word's characters from 1.
WORD_BEGIN, WORD_END, PADDING = 259, 260, 261


def elmo_files() -> pathlib.Path:
    """Returns the folder of the fixture, or skips the test."""
    path = SHARED_DATA / "golden" / "elmo_allennlp"
    if not path.exists():
        pytest.skip(f"there is no {path}; FIRTH_SHARED_DATA names the folder of real data")
    return path


def characters_of(word: str, max_characters: int) -> np.ndarray:
    """Returns int32 [max_characters]."""
    inner = {BEGIN: [257], END: [258]}.get(word) or [byte + 1 for byte in word.encode()]
    marked = [WORD_BEGIN, *inner[: max_characters - 2], WORD_END]
    return np.array(marked + [PADDING] * (max_characters - len(marked)), "int32")
