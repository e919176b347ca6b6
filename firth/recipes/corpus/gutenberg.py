"""The notices of Project Gutenberg."""

from typing import Literal

from firth.recipes.corpus.step import CleaningStep


class GutenbergStep(CleaningStep):
    """Cuts Project Gutenberg's header and footer, its licence among them."""

    kind: Literal["gutenberg"]
    credits: bool = True
    """True to cut, after a header, also the paragraph on who produced the book."""
