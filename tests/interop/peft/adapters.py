"""The adapters of golden/, on their bases as bundles."""

import json
import pathlib
import tempfile

import numpy as np

from firth.interop.hugging_face import import_model
from tests.interop.hugging_face.checkpoints import checkpoint

GOLDEN = pathlib.Path(__file__).parent / "golden"
NAMES = sorted(each.name for each in GOLDEN.iterdir() if (each / "answers.npz").exists())
_BUNDLES = tempfile.TemporaryDirectory()


def bundle_of(base: str) -> str:
    """A golden model of transformers as a bundle."""
    folder = pathlib.Path(_BUNDLES.name) / base
    if not folder.exists():
        (folder / "theirs").mkdir(parents=True)
        import_model(checkpoint(folder / "theirs", name=base), folder / "bundle", base)
    return str(folder / "bundle")


def answers_of(name: str) -> tuple[str, np.ndarray]:
    """The base of an adapter, and the hidden states with it."""
    with np.load(GOLDEN / name / "answers.npz") as arrays:
        return json.loads(str(arrays["made_with"]))["base"], arrays["hidden/last"]
