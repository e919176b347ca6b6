"""Plots that are drawn once for all pages that show them: most of a page's time goes into its plots."""

import contextlib
import functools
import pickle
from collections.abc import Iterator

import pytest

PLOTS = ("loss", "learning_rate", "gradient_norm", "speed", "length", "language", "score", "vocabulary")


def remembered(draw, drawn):
    """Returns a function that draws the same once, and keeps it by its name and its arguments."""

    @functools.wraps(draw)
    def plot(*args, **keys):
        key = (draw.__name__, pickle.dumps((args, keys)))
        if key not in drawn:
            drawn[key] = draw(*args, **keys)
        return drawn[key]

    return plot


@contextlib.contextmanager
def plots_drawn_once(drawn: dict[tuple[str, bytes], str]) -> Iterator[None]:
    """Draws a plot once for all pages of this block, and keeps it in a dict."""
    from firth.reports import compare as overlays, plots

    with pytest.MonkeyPatch.context() as patched:
        for module, name in [*((plots, f"{each}_plot") for each in PLOTS), (overlays, "_overlay")]:
            patched.setattr(module, name, remembered(getattr(module, name), drawn))
        yield
