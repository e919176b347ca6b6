import functools
import pickle

import pytest

from firth.reports import compare as overlays, plots

# By function and arguments.
DRAWN: dict[tuple[str, bytes], str] = {}
PLOTS = ("loss", "learning_rate", "gradient_norm", "speed", "length", "language", "score", "vocabulary")


def remembered(draw):
    """Returns a function that draws the same once."""

    @functools.wraps(draw)
    def plot(*args, **keys):
        key = (draw.__name__, pickle.dumps((args, keys)))
        if key not in DRAWN:
            DRAWN[key] = draw(*args, **keys)
        return DRAWN[key]

    return plot


@pytest.fixture(scope="module", autouse=True)
def remembered_plots():
    """Draws a plot once for all pages that show it: most of a page's time goes into its plots."""
    with pytest.MonkeyPatch.context() as patched:
        for module, name in [*((plots, f"{each}_plot") for each in PLOTS), (overlays, "_overlay")]:
            patched.setattr(module, name, remembered(getattr(module, name)))
        yield DRAWN
