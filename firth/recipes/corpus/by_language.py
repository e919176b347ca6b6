"""Steps whose rules may differ by the language of a document."""

from typing import ClassVar, TypeVar

import pydantic

from firth.recipes.base.recipe_type import Config
from firth.recipes.corpus.codes import Language
from firth.recipes.corpus.step import CleaningStep

RulesT = TypeVar("RulesT", bound="LanguageRules")


class LanguageRules(Config):
    """Base of rules for documents in one language. Values that are not given are those of the step."""

    say_the_same: ClassVar[frozenset[str]] = frozenset()
    """Names of fields of which only one counts, so that one that is given takes the place of the others."""

    language: Language
    """ISO 639-1 code."""


class StepByLanguage(CleaningStep):
    """Base of steps with `languages`, a tuple of `LanguageRules`, as their last field."""

    @pydantic.field_validator("languages", check_fields=False)
    @classmethod
    def _complete(cls, languages: tuple[RulesT, ...], info: pydantic.ValidationInfo) -> tuple[RulesT, ...]:
        """Gives each language the values of the step that it does not state."""
        codes = [each.language for each in languages]
        if twice := next((code for code in codes if codes.count(code) > 1), None):
            raise ValueError(f"{twice!r} is there twice")
        return tuple(_completed(language, info) for language in languages)


def _completed(language: RulesT, info: pydantic.ValidationInfo) -> RulesT:
    stated = {name: getattr(language, name) for name in language.model_fields_set}
    given = {name: info.data[name] for name in type(language).model_fields if name in info.data}
    same = language.say_the_same if language.say_the_same & stated.keys() else frozenset()
    return type(language)(**{**{name: given[name] for name in given if name not in same}, **stated})
