"""The facts that every cleaning step states, and steps whose rules may differ by language."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar

import pydantic

from firth.recipes.base.errors import suggest
from firth.recipes.base.recipe_type import Config

if TYPE_CHECKING:
    from firth.recipes.corpus.normalization import Normalization
    from firth.recipes.corpus.privacy import PiiStep
    from firth.recipes.corpus.sources import AnySource

# fmt: off
# ISO 639-1; those that py3langid's model tells apart.
Language = Literal[
    "af", "am", "an", "ar", "as", "az", "be", "bg", "bn", "br", "bs", "ca", "cs", "cy", "da", "de", "dz",
    "el", "en", "eo", "es", "et", "eu", "fa", "fi", "fo", "fr", "ga", "gl", "gu", "he", "hi", "hr", "ht",
    "hu", "hy", "id", "is", "it", "ja", "jv", "ka", "kk", "km", "kn", "ko", "ku", "ky", "la", "lb", "lo",
    "lt", "lv", "mg", "mk", "ml", "mn", "mr", "ms", "mt", "nb", "ne", "nl", "nn", "no", "oc", "or", "pa",
    "pl", "ps", "pt", "qu", "ro", "ru", "rw", "se", "si", "sk", "sl", "sq", "sr", "sv", "sw", "ta", "te",
    "th", "tl", "tr", "ug", "uk", "ur", "vi", "vo", "wa", "xh", "zh", "zu",
]
# ISO 3166-1 and a few more; those whose numbers phonenumbers knows.
PhoneRegion = Literal[
    "AC", "AD", "AE", "AF", "AG", "AI", "AL", "AM", "AO", "AR", "AS", "AT", "AU", "AW", "AX", "AZ", "BA",
    "BB", "BD", "BE", "BF", "BG", "BH", "BI", "BJ", "BL", "BM", "BN", "BO", "BQ", "BR", "BS", "BT", "BW",
    "BY", "BZ", "CA", "CC", "CD", "CF", "CG", "CH", "CI", "CK", "CL", "CM", "CN", "CO", "CR", "CU", "CV",
    "CW", "CX", "CY", "CZ", "DE", "DJ", "DK", "DM", "DO", "DZ", "EC", "EE", "EG", "EH", "ER", "ES", "ET",
    "FI", "FJ", "FK", "FM", "FO", "FR", "GA", "GB", "GD", "GE", "GF", "GG", "GH", "GI", "GL", "GM", "GN",
    "GP", "GQ", "GR", "GT", "GU", "GW", "GY", "HK", "HN", "HR", "HT", "HU", "ID", "IE", "IL", "IM", "IN",
    "IO", "IQ", "IR", "IS", "IT", "JE", "JM", "JO", "JP", "KE", "KG", "KH", "KI", "KM", "KN", "KP", "KR",
    "KW", "KY", "KZ", "LA", "LB", "LC", "LI", "LK", "LR", "LS", "LT", "LU", "LV", "LY", "MA", "MC", "MD",
    "ME", "MF", "MG", "MH", "MK", "ML", "MM", "MN", "MO", "MP", "MQ", "MR", "MS", "MT", "MU", "MV", "MW",
    "MX", "MY", "MZ", "NA", "NC", "NE", "NF", "NG", "NI", "NL", "NO", "NP", "NR", "NU", "NZ", "OM", "PA",
    "PE", "PF", "PG", "PH", "PK", "PL", "PM", "PR", "PS", "PT", "PW", "PY", "QA", "RE", "RO", "RS", "RU",
    "RW", "SA", "SB", "SC", "SD", "SE", "SG", "SH", "SI", "SJ", "SK", "SL", "SM", "SN", "SO", "SR", "SS",
    "ST", "SV", "SX", "SY", "SZ", "TA", "TC", "TD", "TG", "TH", "TJ", "TK", "TL", "TM", "TN", "TO", "TR",
    "TT", "TV", "TW", "TZ", "UA", "UG", "US", "UY", "UZ", "VA", "VC", "VE", "VG", "VI", "VN", "VU", "WF",
    "WS", "XK", "YE", "YT", "ZA", "ZM", "ZW",
]
# fmt: on


RulesT = TypeVar("RulesT", bound="LanguageRules")


class CleaningStep(Config):
    """Base of the cleaning steps. Whoever runs or checks the steps asks them; none asks which step it is."""

    trains_model: ClassVar[bool] = False
    """True if it trains a model on the corpus, which is an artifact of its own."""
    reads_model: ClassVar[bool] = False
    """True if it reads a model that others have trained, which is tried when a pipeline is made."""
    source_names: ClassVar[dict[str, tuple[str, ...]]] = {}
    """Names of sources, by the key that holds them."""
    further_sources: ClassVar["dict[str, tuple[AnySource, ...]]"] = {}
    """Sources that do not belong to the corpus, by the key that holds them."""
    normalization: ClassVar["Normalization | None"] = None
    """The form that the step brings text to, which every reader of text for the model has to repeat."""
    privacy: ClassVar["PiiStep | None"] = None
    """The personal data that the step replaces."""
    adds_metadata: ClassVar[bool] = False
    """True if it adds to the metadata of the documents that it keeps."""

    def conflicts(self, sources: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yields each key that does not fit the recipe's sources, and what is wrong with it.

        Args:
            sources: Names of the recipe's sources.
        """
        for key, given in self.source_names.items():
            for name in given:
                if name not in sources:
                    yield key, f"no source is named {name!r}; {suggest(name, sources)}"


class DescribingStep(CleaningStep):
    """Base of the steps that can add values to the metadata of the documents that they keep."""

    add_metadata: bool = False
    """True to add the step's values to each document's metadata, and so to exports. Their keys begin with the
    name of the step and a dot."""

    @property
    def adds_metadata(self) -> bool:  # type: ignore[override]
        """True if `add_metadata` is."""
        return self.add_metadata


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
