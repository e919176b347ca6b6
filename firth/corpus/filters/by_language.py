"""Rules of a step that may differ by the language of a document."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar

from firth.corpus.filters.language import identify
from firth.recipes.corpus.by_language import LanguageRules

RulesT = TypeVar("RulesT")


class ConfigByLanguage(Protocol):
    """A `StepByLanguage` of a recipe."""

    @property
    def languages(self) -> Sequence[LanguageRules]:
        """Values by language."""


class RulesByLanguage(Generic[RulesT]):
    """The rules of a step for its languages and for all others.

    Example:

    >>> from firth.recipes.corpus.filters import FineWebStep, LanguageFineWeb
    >>> german = LanguageFineWeb(language="de", short_line_characters=40)
    >>> config = FineWebStep(kind="fineweb", languages=(german,))
    >>> rules = RulesByLanguage(config, lambda values: values.short_line_characters)
    >>> rules.of("Es war die beste und die schlimmste Zeit."), rules.of("It was the best of times.")
    (40, 30)
    """

    def __init__(self, config: ConfigByLanguage, make: Callable[[Any], RulesT]) -> None:
        self._others = make(config)
        self._of: dict[str, RulesT] = {each.language: make(each) for each in config.languages}

    def of(self, text: str) -> RulesT:
        """Returns the rules for a text. Its language is identified only if there are several."""
        if not self._of:
            return self._others
        language, _ = identify(text)
        return self._of.get(language, self._others)

    def __iter__(self) -> Iterator[RulesT]:
        """Yields the rules of all languages."""
        yield self._others
        yield from self._of.values()
