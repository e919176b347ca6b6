"""Numbers that states give to persons."""

import dataclasses
import importlib
import re
from collections.abc import Iterator

from firth.corpus.privacy.finder import Finder, Span
from firth.recipes.privacy import PiiStep

_DIGITS = re.compile(r"\d(?<![\w.,+-]\d)(?:[ .-]?\d){7,16}(?![\w%]|[.,-]\d)")
# How the ways of writing below begin, in a form that is quick to search.
_START = re.compile(
    r"[A-Z\d](?<![\w.,+-].)(?:(?<=\d)(?=(?:[ .-]?\d){5})|(?<=[A-Z])(?=[A-Z]{3,5}\d\d|-?\d{7}))"
)
_CUE_CHARACTERS = 48


@dataclasses.dataclass(frozen=True)
class Scheme:
    """How a country's number is written, and by which words it is known.

    Attributes:
        country: ISO 3166-1 code.
        module: Of stdnum, which checks its digits.
        written: A way of writing that is seldom anything else; empty if there is none.
        cues: Words that stand before it; behind them any grouping will do. Empty if none is needed.
    """

    country: str
    module: str
    written: str = ""
    cues: str = ""

    def is_valid(self, value: str) -> bool:
        """Returns whether the check digits (and the date of birth in it, if any) are right."""
        return importlib.import_module(f"stdnum.{self.module}").is_valid(value)


SCHEMES = (
    Scheme("US", "us.ssn", r"\d{3}-\d\d-\d{4}", r"ssn|social security"),
    Scheme("CA", "ca.sin", "", r"sin|nas|social insurance|assurance sociale"),
    Scheme("GB", "gb.nhs", "", r"nhs"),
    Scheme("FR", "fr.nir", r"[12] ?\d\d ?\d\d ?\d[\dAB] ?\d{3} ?\d{3} ?\d\d", r"nir|sécurité sociale|insee"),
    Scheme("DE", "de.idnr", r"\d\d \d{3} \d{3} \d{3}", r"steuer-?id|idnr|identifikationsnummer|tax id"),
    Scheme("ES", "es.dni", r"\d{8}-?[A-Z]"),
    Scheme("ES", "es.nie", r"[XYZ]-?\d{7}-?[A-Z]"),
    Scheme("IT", "it.codicefiscale", r"[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z]"),
    Scheme("NL", "nl.bsn", "", r"bsn|burgerservicenummer|sofi-?nummer"),
    Scheme("PL", "pl.pesel", "", r"pesel"),
    Scheme("BR", "br.cpf", r"\d{3}\.\d{3}\.\d{3}-\d\d", r"cpf"),
    Scheme("IN", "in_.aadhaar", "", r"aadha?ar|uidai?"),
    Scheme("CN", "cn.ric", r"\d{17}[\dX]"),
    Scheme("SE", "se.personnummer", r"(?:\d\d)?\d{6}[-+]\d{4}", r"personnummer|personal identity number"),
    Scheme("FI", "fi.hetu", r"\d{6}[-+A]\d{3}[0-9A-Y]"),
    Scheme("BE", "be.nn", r"\d\d\.\d\d\.\d\d-\d{3}\.\d\d", r"rijksregisternummer|registre national"),
    Scheme("CH", "ch.ssn", r"756\.\d{4}\.\d{4}\.\d\d", r"ahv|avs"),
    Scheme("KR", "kr.rrn", r"\d{6}-[1-49]\d{6}"),
    Scheme("MX", "mx.curp", r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d"),
)


class NationalIds(Finder):
    """National numbers with right check digits, written as they are nowhere else or announced by a word."""

    def __init__(self, config: PiiStep):
        self._schemes = tuple(each for each in SCHEMES if each.country in config.id_countries)
        written = "|".join(each.written for each in self._schemes if each.written)
        self._written = re.compile(rf"(?:{written})(?![\w%-]|[.,]\d)") if written else None
        self._forms = [(each, re.compile(each.written)) for each in self._schemes if each.written]
        self._cued = [(each, re.compile(each.cues, re.IGNORECASE)) for each in self._schemes if each.cues]
        cues = "|".join(each.cues for each, _ in self._cued)
        self._cue = re.compile(rf"(?i)\b({cues})\b[^\d\n]{{0,24}}\Z") if cues else None

    def find(self, text: str) -> Iterator[Span]:  # noqa: D102
        yield from sorted({*self._find_written(text), *self._find_cued(text)})

    def _find_written(self, text: str) -> Iterator[Span]:
        for start in _START.finditer(text) if self._written else ():
            candidate = self._written and self._written.match(text, start.start())
            if candidate and self._is_one(candidate.group()):
                yield candidate.span()

    def _is_one(self, value: str) -> bool:
        return any(form.fullmatch(value) and scheme.is_valid(value) for scheme, form in self._forms)

    def _find_cued(self, text: str) -> Iterator[Span]:
        for candidate in _DIGITS.finditer(text) if self._cue else ():
            start = candidate.start()
            found = self._cue and self._cue.search(text, max(0, start - _CUE_CHARACTERS), start)
            schemes = (scheme for scheme, cue in self._cued if found and cue.fullmatch(found[1]))
            if any(scheme.is_valid(candidate.group()) for scheme in schemes):
                yield candidate.span()

    def accepts(self, value: str) -> bool:  # noqa: D102
        return any(scheme.is_valid(value) for scheme in self._schemes)
