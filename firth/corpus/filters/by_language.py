"""Steps whose rules may differ by the language of a document."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar, cast

from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import ConfigT, Decision, DocumentStep, Drop, Keep
from firth.corpus.filters.language import identify
from firth.recipes.corpus.by_language import LanguageRules

RulesT = TypeVar("RulesT")


class Rules(Protocol):
    """The rules of a step for a language."""

    def measures(self, text: str) -> dict[str, float]:
        """Returns the values that the rules compare with their thresholds."""

    def broken_by(self, text: str) -> str | None:
        """Returns the reason for which a text is dropped, or None."""


class StepByLanguage(DocumentStep[ConfigT]):
    """Base of steps that drop documents for the first rule that they break."""

    def __init__(self, config: ConfigT, make: Callable[[Any], Rules]) -> None:
        super().__init__(config)
        self._rules = RulesByLanguage[Any](cast(ConfigByLanguage, config), make)

    def measures(self, document: Document) -> dict[str, float]:  # noqa: D102
        return self._rules.of(document.text).measures(document.text)

    def decide(self, document: Document) -> Decision:  # noqa: D102
        reason = self._rules.of(document.text).broken_by(document.text)
        return Drop(reason) if reason else Keep(document)


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
