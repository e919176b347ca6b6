"""Normalization of text, stated once for the corpus and for the tokenizer."""

from typing import Literal

from firth.recipes.base.recipe_type import Config
from firth.recipes.corpus.step import CleaningStep

Substitution = tuple[str, str]

# Characters next to the space that separate words within a line.
_BLANKS = "\t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
_LINE_ENDINGS = ("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", "\n")
_CONTROLS = ("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff]", "")
_SPACES = f"[\n\x0b-\r\x1c-\x1f \x85\u2028\u2029{_BLANKS}]"
_MARGINS = (f"^{_SPACES}+|{_SPACES}+$", "")
_COLLAPSE = ((f"[{_BLANKS}][ {_BLANKS}]*| [ {_BLANKS}]+", " "), (" ?\n ?", "\n"), ("\n\n\n+", "\n\n"))


class Normalization(Config):
    r"""One form for all text.

    Python and the TensorFlow graph do the same: first `substitutions_before`, then the Unicode form, then
    `substitutions_after`. Mojibake, which comes before all, is repaired in the corpus alone; a graph cannot.

    Example:

    >>> Normalization(whitespace="keep").substitutions_after
    ()
    """

    mojibake: bool = False
    """True to repair text that was decoded as another encoding than its own (`cafÃ©`), line by line."""
    line_endings: bool = True
    r"""True to turn `\r\n`, `\r`, form feeds and Unicode's own line ends into `\n`."""
    control_characters: bool = True
    r"""True to remove control characters other than tab and `\n`, and byte order marks."""
    form: Literal["NFC", "NFKC"] = "NFC"
    """Normalisation form of Unicode (Unicode Standard Annex 15)."""
    whitespace: Literal["keep", "margins", "collapse"] = "margins"
    """Treatment of spaces: `keep` them, strip the `margins` of the document, or also `collapse` the runs
    inside: one space between words, none around line ends, at most one blank line."""

    @property
    def substitutions_before(self) -> tuple[Substitution, ...]:
        """Patterns, each valid in Python's `re` and in RE2, with their replacements, before the form."""
        return (_LINE_ENDINGS,) * self.line_endings + (_CONTROLS,) * self.control_characters

    @property
    def substitutions_after(self) -> tuple[Substitution, ...]:
        """Patterns with their replacements, after the form."""
        collapse = _COLLAPSE if self.whitespace == "collapse" else ()
        return collapse + (_MARGINS,) * (self.whitespace != "keep")

    @property
    def text_steps(self) -> tuple[tuple[str, ...], ...]:
        """All steps, as `firth.tokenizers` takes them: pairs of pattern and replacement, and the form alone.

        Example:

        >>> Normalization(line_endings=False, control_characters=False, whitespace="keep").text_steps
        (('NFC',),)
        """
        return (*self.substitutions_before, (self.form,), *self.substitutions_after)


class NormalizeStep(CleaningStep, Normalization):
    """Brings every document to one form; a document of which nothing remains is dropped."""

    kind: Literal["normalize"]

    @property
    def normalization(self) -> Normalization:  # type: ignore[override]
        """Itself."""
        return self
