"""The adapters of golden/, on their bases as bundles."""

import json
import pathlib

import numpy as np

from firth.interop.hugging_face import import_model
from tests.interop.hugging_face.checkpoints import checkpoint
from tests.made_once import made_once_of_run

GOLDEN = pathlib.Path(__file__).parent / "golden"
NAMES = sorted(each.name for each in GOLDEN.iterdir() if (each / "answers.npz").exists())


def bundle_of(base: str) -> str:
    """A golden model of transformers as a bundle."""

    def make(folder):
        (folder / "theirs").mkdir(parents=True)
        import_model(checkpoint(folder / "theirs", name=base), folder / "bundle", base)

    return str(made_once_of_run()(f"peft_{base}", make) / "bundle")


def answers_of(name: str) -> tuple[str, np.ndarray]:
    """The base of an adapter, and the hidden states with it."""
    with np.load(GOLDEN / name / "answers.npz") as arrays:
        return json.loads(str(arrays["made_with"]))["base"], arrays["hidden/last"]
