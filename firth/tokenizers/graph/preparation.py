"""Preparation of text for a model of SentencePiece, as settings."""

import dataclasses
import re
from collections.abc import Mapping
from typing import Any, Literal

from firth.tokenizers.graph.sentencepiece_model import parse_model
from firth.tokenizers.graph.text_steps import OWN_MAP

Prefix = Literal["first", "always", "never"]
_PREFIXES = ("first", "always", "never")
Step = tuple[str, ...]
# Spaces as the model itself treats them: single, and none at the end.
SINGLE_SPACES: tuple[Step, ...] = ((" {2,}", " "), (r" +\z", ""))
# Replaces text that no model knows: not a character, so that no text holds it.
_NO_CHARACTER = "\ufdd3"
PREPENDED: Step = (r"\A((?s:.))", "\u2581\\1")


def unknown_step(unknown: str) -> Step:
    """Returns the step that makes unknown text of the unknown piece where normalization brings it about.

    It is skipped unless the piece is asked for: typed in a text, its name is ordinary text.
    """
    return re.escape(unknown), _NO_CHARACTER


def is_unknown_step(step: Step, unknown: str) -> bool:
    """Returns whether a step is the one that `unknown_step` returns."""
    return bool(unknown) and step == unknown_step(unknown)


@dataclasses.dataclass(frozen=True)
class Preparation:
    """The preparation of text for a model. Special pieces are split off before.

    Attributes:
        steps: Changes of the text between two special pieces, as `TextSteps` takes them.
        prefix: Which texts get a space before them, if they do not begin with one: those that are the `first`
            of their row, those after special pieces too (`always`), or none (`never`).
        late: Special pieces that are split off after the steps, not before them.

    Example:

    >>> Preparation.of({"steps": [["NFKC"], [" +", " "]], "prefix": "always"}).steps
    (('NFKC',), (' +', ' '))
    """

    steps: tuple[Step, ...] = ()
    prefix: Prefix = "first"
    late: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(tuple(step) for step in self.steps))
        object.__setattr__(self, "late", tuple(self.late))
        if self.prefix not in _PREFIXES:
            raise ValueError(f"preparation: prefix: {self.prefix!r} is not one of {', '.join(_PREFIXES)}")

    @classmethod
    def of(cls, value: "Preparation | Mapping[str, Any]") -> "Preparation":
        """Returns the preparation of settings."""
        return value if isinstance(value, Preparation) else cls(**value)

    @classmethod
    def of_model(cls, model: bytes) -> "Preparation":
        """Returns the preparation that the sentencepiece package does for this model.

        Raises:
            ValueError: if they are not a model.
        """
        spec = parse_model(model).normalizer_spec
        if not spec.remove_extra_whitespaces:
            # A space that the text has itself is kept, so one is put before it without a look.
            return cls(((OWN_MAP,), *[PREPENDED] * spec.add_dummy_prefix), "never")
        if not spec.add_dummy_prefix:
            return cls(((OWN_MAP,), *SINGLE_SPACES, (r"\A +", "")), "never")
        return cls(((OWN_MAP,), *SINGLE_SPACES), "first")

    @property
    def settings(self) -> dict[str, Any]:
        """The attributes by name, fit for JSON."""
        return {"steps": [list(step) for step in self.steps], "prefix": self.prefix, "late": list(self.late)}
