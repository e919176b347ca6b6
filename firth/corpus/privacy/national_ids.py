"""Detection of national identification numbers."""

import dataclasses
import functools
import importlib
import re
from collections.abc import Callable, Iterator, Sequence

from firth.corpus.privacy import check_digits
from firth.corpus.privacy.finder import WORD, Finder, Run, Span, search, words_before
from firth.recipes.corpus.privacy import PiiStep

_SEPARATORS = re.compile(r"[ \u00a0./()-]")
_BIRTH_NUMBER = r"rodné číslo|rodne cislo|r\.? ?č\.?"
_EMSO = r"emšo|emso|jmbg|ймбг|јмбг"
# After a word such as `SSN` any grouping is accepted, with letters at one end.
_CUED = re.compile(
    rf"[A-Z\d](?<![{WORD}.,+-].)(?:(?<=\d)(?:[ \u00a0./-]?\d){{6,17}}(?:[ -]?[A-Za-z]{{1,2}}(?![{WORD}]))?"
    rf"|(?<=[A-Z])(?:[A-Z]{{0,5}}|[A-Z] )\d(?:[ -]?[A-Z\d]){{5,12}}(?:\([\dA]\))?)(?![{WORD}%]|[.,-]\d)"
)
# The beginnings of all ways of writing, in a form that is quick to search.
_START = re.compile(
    rf"[A-Z\d](?<![{WORD}.,+-].)(?:(?<=\d)(?=(?:[ .-]?\d){{5}})"
    rf"|(?<=[A-Z])(?=[A-Z]{{3,5}}\d\d|[A-Z]?-?\d{{6}}))"
)
_CUE_CHARACTERS = 48
# Most letters before the first digit and after the last, and least number of digits without a letter before.
_BEFORE, _AFTER, _MIN_DIGITS = 8, 32, 6


@dataclasses.dataclass(frozen=True)
class Scheme:
    """A country's national number.

    Attributes:
        country: ISO 3166-1 code of the country.
        module: Name of the module of stdnum, or of the function of `check_digits`, that checks the digits;
            empty if the number has no check digits.
        written: Pattern of a way of writing that is rarely used for anything else; empty for a number without
            such a way.
        cues: Pattern of words that announce the number, after which any grouping is accepted; empty for
            a number that no word announces.
        form: Pattern of the number without separators after such a word.
    """

    country: str
    module: str
    written: str = ""
    cues: str = ""
    form: str = r"[A-Z\d]+"

    def is_valid(self, value: str) -> bool:
        """Returns whether the form, the check digits and the date of birth, if there is one, are right."""
        compact = _SEPARATORS.sub("", value)
        if not re.fullmatch(self.form, compact):
            return False
        is_valid = _check(self.module)
        return is_valid(compact) or is_valid(value)


@functools.cache
def _check(module: str) -> Callable[[str], bool]:
    if not module:
        return lambda value: True
    own = getattr(check_digits, module, None)
    return own or _without_errors(importlib.import_module(f"stdnum.{module}").is_valid)


def _without_errors(is_valid: Callable[[str], bool]) -> Callable[[str], bool]:
    # stdnum raises these errors for numbers whose place of issue is missing in its tables.
    def checked(value: str) -> bool:
        try:
            return is_valid(value)
        except (LookupError, ValueError):
            return False

    return checked


SCHEMES = (
    Scheme("US", "us.ssn", r"\d{3}-\d\d-\d{4}", r"ssn|ss ?#|ss no\.?|social security"),
    Scheme("US", "us.itin", "", r"itin|taxpayer identification"),
    Scheme("CA", "ca.sin", "", r"sin|nas|social insurance|assurance sociale"),
    Scheme("GB", "gb.nhs", "", r"nhs"),
    Scheme("GB", "gb_nino", "", r"nino|ni number|ni no\.?|national insurance"),
    Scheme("FR", "fr.nir", r"[12] ?\d\d ?\d\d ?\d[\dAB] ?\d{3} ?\d{3} ?\d\d", r"nir|sécurité sociale|insee"),
    Scheme(
        "DE", "de.idnr", r"\d\d \d{3} \d{3} \d{3}",
        r"steuer-?id|steuer-?id-?nr\.?|idnr\.?|(?:steuer)?identifikationsnummer|tax id",
    ),
    Scheme("ES", "es.dni", r"\d{8}-?[A-Z]|\d\d\.\d{3}\.\d{3}-?[A-Z]", "dni|d\\.n\\.i\\."),
    Scheme("ES", "es.nie", r"[XYZ]-?\d{7}-?[A-Z]"),
    Scheme("IT", "it.codicefiscale", r"[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z]"),
    Scheme("NL", "nl.bsn", "", r"bsn|burgerservicenummer|sofi-?nummer"),
    Scheme("PL", "pl.pesel", "", r"pesel"),
    Scheme("BR", "br.cpf", r"\d{3}\.\d{3}\.\d{3}-\d\d", r"cpf"),
    Scheme("IN", "in_.aadhaar", "", r"aadha?ar|uidai?|आधार"),
    Scheme("IN", "in_.pan", r"[A-Z]{3}[PH][A-Z]\d{4}[A-Z]", r"pan"),
    Scheme("IN", "in_.epic", "", r"voter|epic"),
    Scheme("CN", "cn.ric", r"\d{17}[\dX]"),
    Scheme("SE", "se.personnummer", r"(?:\d\d)?\d{6}[-+]\d{4}", r"personnummer|pnr|personal identity number"),
    Scheme("FI", "fi.hetu", r"\d{6}[-+A]\d{3}[0-9A-Y]"),
    Scheme(
        "BE", "be.nn", r"\d\d\.\d\d\.\d\d-\d{3}\.\d\d",
        r"rijksregister(?:nummer)?|(?:registre|numéro) national",
    ),
    Scheme("CH", "ch.ssn", r"756\.\d{4}\.\d{4}\.\d\d|756 \d{4} \d{4} \d\d", r"ahv|avs"),
    Scheme("KR", "kr.rrn", r"\d{6}-[1-49]\d{6}"),
    Scheme("MX", "mx.curp", r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d"),
    Scheme("MX", "mx.rfc", "", r"rfc", r"[A-Z]{4}\d{6}[A-Z\d]{3}"),
    Scheme("PT", "pt.nif", "", r"nif|contribuinte|nipc"),
    Scheme("AT", "at.vnr", "", r"svnr|sv-?nr\.?|sozialversicherungs-?(?:nr\.?|nummer)"),
    Scheme("NO", "no.fodselsnummer", "", r"fødselsnummer|fødselsnr\.?|personnummer|personnr\.?|fnr"),
    Scheme("DK", "dk.cpr", "", r"cpr|cpr-?nr\.?|cpr-?nummer|personnummer"),
    Scheme("IS", "is_.kennitala", "", r"kennitala|kt\.?"),
    Scheme("EE", "ee.ik", "", r"isikukood|personal code"),
    Scheme("LT", "lt.asmens", "", r"asmens kodas|personal code"),
    Scheme("LV", "lv.pvn", "", r"personas kods|personal code", r"[0-3]\d{10}"),
    Scheme("CZ", "cz.rc", "", _BIRTH_NUMBER),
    Scheme("SK", "sk.rc", "", _BIRTH_NUMBER),
    Scheme("HU", "", "", r"adóazonosító(?: jel)?|taj", r"8\d{9}"),
    Scheme("RO", "ro.cnp", "", r"cnp|cod numeric personal"),
    Scheme("BG", "bg.egn", "", r"егн|egn"),
    Scheme("HR", "hr.oib", "", r"oib"),
    Scheme("SI", "si.emso", "", _EMSO),
    Scheme("RS", "si.emso", "", _EMSO),
    Scheme("GR", "gr.amka", "", r"αμκα|amka"),
    Scheme("IE", "ie.pps", "", r"ppsn?|personal public service"),
    Scheme("TR", "tr.tckimlik", "", r"t\.?c\.? ?kimlik|kimlik|tckn|tc no"),
    Scheme("RU", "ru_snils", "", r"снилс|snils"),
    Scheme("RU", "ru.inn", "", r"инн|inn", r"\d{12}"),
    Scheme("UA", "ua.rntrc", "", r"рнокпп|іпн|ипн|rntrc"),
    Scheme("KZ", "kz_iin", "", r"иин|жсн|iin"),
    Scheme("IL", "il.idnr", "", r"תעודת זהות|ת\.ז\.?|teudat zehut|israeli id"),
    Scheme("EG", "", "", r"الرقم القومي|national id", r"[23]\d{2}[01]\d[0-3]\d{8}"),
    Scheme("ZA", "za.idnr", "", r"id|id (?:no\.?|number)|identity number|rsa id|sa id"),
    Scheme("PK", "pk.cnic", r"[1-7]\d{4}-\d{7}-\d", r"cnic|nic"),
    Scheme("JP", "jp_individual", "", r"マイナンバー|個人番号|my number"),
    Scheme("TW", "tw_id", "", r"身分證(?:字號)?|身份證(?:字號)?|national id|arc"),
    Scheme("HK", "hk_id", r"[A-Z]{1,2}\d{6}\([\dA]\)", r"hkid|身份證"),
    Scheme("SG", "sg_nric", r"[STFG]\d{7}[A-Z]", r"nric|fin"),
    Scheme("MY", "my.nric", "", r"nric|mykad|no\.? kp|ic no\.?|kad pengenalan"),
    Scheme("ID", "id.nik", "", r"nik|ktp"),
    Scheme("TH", "th.pin", r"\d-\d{4}-\d{5}-\d\d-\d", r"เลขบัตรประชาชน|บัตรประชาชน|thai id"),
    Scheme("AU", "au.tfn", "", r"tfn|tax file"),
    Scheme("NZ", "nz.ird", "", r"ird"),
    Scheme("AR", "", "", r"dni|d\.n\.i\.", r"[1-9]\d{6,7}"),
    Scheme("AR", "ar.cuit", "", r"cuil|cuit"),
    Scheme("CL", "cl.rut", r"\d{1,2}\.\d{3}\.\d{3}-[\dKk]", r"rut|run|r\.u\.t\."),
    Scheme("CO", "", "", r"cédula de ciudadanía|cedula de ciudadania", r"\d{6,10}"),
    Scheme("EC", "ec.ci", "", r"cédula|cedula"),
    Scheme("UY", "uy_ci", "", r"c\. ?i\.?|cédula(?: de identidad)?"),
    Scheme("DO", "do.cedula", "", r"cédula|cedula"),
)  # fmt: skip


class NationalIds(Finder):
    """Finds national numbers with right check digits and a distinctive form or an announcing word."""

    def __init__(self, config: PiiStep) -> None:
        self._schemes = tuple(each for each in SCHEMES if each.country in config.id_countries)
        written = "|".join(each.written for each in self._schemes if each.written)
        self._written = re.compile(rf"(?:{written})(?![{WORD}%-]|[.,]\d)") if written else None
        self._forms = [(each, re.compile(each.written)) for each in self._schemes if each.written]
        self._cued = [(each, re.compile(each.cues)) for each in self._schemes if each.cues]
        cues = "|".join(each.cues for each, _ in self._cued)
        self._cue = re.compile(rf"(?<![{WORD}])({cues})(?![{WORD}])") if cues else None
        self._schemes_of_cue: dict[str, list[Scheme]] = {}

    def find(self, text: str, runs: Sequence[Run]) -> Iterator[Span]:  # noqa: D102
        possible = [
            (start, end)
            for start, end in runs
            if end - start >= _MIN_DIGITS or (start and text[start - 1].isupper())
        ]
        yield from sorted({*self._find_written(text, possible), *self._find_cued(text, possible)})

    def _find_written(self, text: str, runs: Sequence[Run]) -> Iterator[Span]:
        starts = search(_START, text, runs, 1, _BEFORE)
        for start in starts if self._written else ():
            candidate = self._written and self._written.match(text, start.start())
            if candidate and self._is_one(candidate.group()):
                yield candidate.span()

    def _is_one(self, value: str) -> bool:
        return any(form.fullmatch(value) and scheme.is_valid(value) for scheme, form in self._forms)

    def _find_cued(self, text: str, runs: Sequence[Run]) -> Iterator[Span]:
        for candidate in search(_CUED, text, runs, 1, _BEFORE, _AFTER):
            start = candidate.start()
            schemes = self._announced_by(words_before(text, start, _CUE_CHARACTERS).lower())
            length = _length(candidate.group(), schemes) if schemes else 0
            if length:
                yield start, start + length

    def _announced_by(self, words: str) -> list[Scheme]:
        """Returns the schemes whose cues are among the words, which are in lower case."""
        cues = {each[1] for each in self._cue.finditer(words)} if words and self._cue else set()
        for cue in cues - self._schemes_of_cue.keys():
            self._schemes_of_cue[cue] = [scheme for scheme, known in self._cued if known.fullmatch(cue)]
        return [scheme for cue in cues for scheme in self._schemes_of_cue[cue]]

    def accepts(self, value: str) -> bool:  # noqa: D102
        return any(scheme.module and scheme.is_valid(value) for scheme in self._schemes)


def _length(value: str, schemes: Sequence[Scheme]) -> int:
    """Returns the length of the number at the beginning of a candidate, which may have words after it."""
    while value:
        if any(scheme.is_valid(value) for scheme in schemes):
            return len(value)
        value = value.rpartition(" ")[0]
    return 0
