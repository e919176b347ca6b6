"""The step that finds personal data and secret keys and replaces them."""

import re
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from firth.corpus.documents.document import Document
from firth.corpus.documents.hashing import digest
from firth.corpus.documents.steps import Decision, DocumentStep, Keep
from firth.corpus.privacy.addresses import Emails, Ipv4Addresses, Ipv6Addresses
from firth.corpus.privacy.finder import Finder, find_runs
from firth.corpus.privacy.national_ids import NationalIds
from firth.corpus.privacy.payment_numbers import CreditCards, Ibans
from firth.corpus.privacy.phones import Phones
from firth.corpus.privacy.secrets import Secrets
from firth.recipes.corpus.privacy import PII_TYPES, PiiStep

Find = Callable[[str], list["Finding"]]
Replace = Callable[[str, list["Finding"], int], tuple[str, list[int]]]
# Words that announce a value are at most this far away, and most values are shorter.
_REACH = 128
# Number of surrogates to try. If all of them are valid values, the placeholder is used.
_ATTEMPTS = 1000
# Number of passes with surrogates, which may form new values with adjacent text; placeholders follow.
_SURROGATE_PASSES = 4
# Replaces the letters of placeholders while values are searched.
_NOTHING = "\0"
# Most values are much shorter; the longest are tokens without a space, and private keys.
_NEAR = 2**10
_TO_THE_END = re.compile(r"[\w.+/=:,\\-]*\Z", re.ASCII)
# Endings of file names. Only those that often precede another ending may be several.
_ENDING = re.compile(r"((?:\.(?:arc|csv|html?|jsonl?|tsv|txt|warc|wet|xml))*\.[A-Za-z0-9]{1,9})(?=$|[/#?])")
_PLACEHOLDER = re.compile(f"<(?:{'|'.join(map(str.upper, PII_TYPES))})>")
FINDERS: dict[str, Callable[[PiiStep], Finder]] = {
    "secret": Secrets,
    "email": Emails,
    "ipv6": Ipv6Addresses,
    "ipv4": Ipv4Addresses,
    "iban": Ibans,
    "credit_card": CreditCards,
    "national_id": NationalIds,
    "phone": Phones,
}


class Finding(NamedTuple):
    """A value of personal data in a text.

    Attributes:
        start: Index of its first character.
        end: Index after its last character.
        type: Name of its type in the recipe, such as `email`.
    """

    start: int
    end: int
    type: str


def replace_all(text: str, find: Find, replace: Replace) -> str:
    """Returns a text in which nothing more is found."""
    turn, reach = 0, _REACH
    while findings := find(text):
        text, places = replace(text, findings, turn)
        turn += 1
        if 3 * reach * len(places) < len(text):
            text, turn = _replace_near(text, places, turn, reach, find, replace)
            # Values that are found after this pass are longer than the reach.
            reach *= 2
    return text


def _replace_near(
    text: str, places: list[int], turn: int, reach: int, find: Find, replace: Replace
) -> tuple[str, int]:
    """Searches again near changed places until nothing changes."""
    parts = [text[start : start + reach] for start in range(0, len(text), reach)]
    changed = {place // reach for place in places}
    while changed:
        last_changed, changed = sorted(changed), set()
        for part in last_changed:
            first, end = _around(parts, part, reach)
            window = "".join(parts[first:end])
            findings = _inside(
                find(window), window, reach // 2 * (first > 0), reach // 2 * (end < len(parts))
            )
            if findings:
                window, places = replace(window, findings, turn)
                size = -(-len(window) // (end - first))
                parts[first:end] = [window[i * size : (i + 1) * size] for i in range(end - first)]
                changed.update(first + place // size for place in places)
        turn += 1
    return "".join(parts), turn


def _around(parts: list[str], part: int, reach: int) -> tuple[int, int]:
    """Returns the range of the parts within reach of a part, as (first, end)."""
    first, before = part, 0
    while first > 0 and before < reach:
        first -= 1
        before += len(parts[first])
    end, after = part + 1, 0
    while end < len(parts) and after < reach:
        after += len(parts[end])
        end += 1
    return first, end


def _inside(findings: list[Finding], window: str, before: int, after: int) -> list[Finding]:
    """Returns the findings at least `before` characters from the start and `after` from the end."""
    return [each for each in findings if each.start >= before and each.end <= len(window) - after]


def _opaque(placeholder: re.Match[str]) -> str:
    """Returns a string of the same length that is not part of a value and does not announce a value."""
    return f"<{_NOTHING * (len(placeholder[0]) - 2)}>"


class Pii(DocumentStep[PiiStep]):
    """Replaces personal data by placeholders or surrogates, and counts the replaced values by type.

    A surrogate depends only on the seed and the value. It is chosen so that it is not a valid value of any
    type. It therefore belongs to nobody, and a second pass leaves it unchanged.

    Example:

    >>> step = Pii(PiiStep(kind="pii"))
    >>> step.scrub("Ask jane@roe.org or call +1 212-736-5000.")
    'Ask <EMAIL> or call <PHONE>.'
    >>> Pii(PiiStep(kind="pii", replacement="surrogate")).scrub("Ask jane@roe.org.")
    'Ask ...@example....'
    """

    changes_text = True

    def __init__(self, config: PiiStep) -> None:
        super().__init__(config)
        self._finders: dict[str, Finder] = {
            name: FINDERS[name](config) for name in PII_TYPES if name in config.types
        }

    def decide(self, document: Document) -> Decision:  # noqa: D102
        text, counts = self._scrub(document.text)
        return Keep(document.with_text(text), counts) if counts else Keep(document)

    def scrub(self, text: str) -> str:
        """Returns a text with its personal data replaced. Scrubbing the result again changes nothing."""
        text, _ = self._scrub(text)
        return text

    def scrub_metadata(self, text: str) -> str:
        """Returns an address or a licence with its personal data replaced, unless `metadata` is `keep`."""
        return text if self._config.metadata == "keep" else self.scrub_address(text)

    def scrub_address(self, text: str) -> str:
        """Returns an address, or the name of a file, with its personal data replaced.

        Example:

        >>> Pii(PiiStep(kind="pii")).scrub_address("mail/jane@roe.org.txt#L3")
        'mail/<EMAIL>.txt#L3'
        """
        text = self.scrub(text)
        marked = _ENDING.sub(r"\n\1", text)
        scrubbed = self.scrub(marked)
        return text if scrubbed == marked else scrubbed.replace("\n.", ".")

    def _scrub(self, text: str) -> tuple[str, Counter[str]]:
        counts: Counter[str] = Counter()

        def replace(text: str, findings: list[Finding], turn: int) -> tuple[str, list[int]]:
            counts.update(finding.type for finding in findings)
            return self._replace(text, findings, with_surrogates=turn < _SURROGATE_PASSES)

        return replace_all(text, self.find, replace), counts

    def scrub_beginning(self, text: str, characters: int) -> str:
        """Returns the first characters of a text with personal data replaced.

        Example:

        >>> Pii(PiiStep(kind="pii")).scrub_beginning("Ask jane@roe.org for it.", 8)
        'Ask <EMAIL>'
        """
        findings = self._find_beginning(text, characters)
        end = max([characters, *(finding.end for finding in findings)])
        text, _ = self._replace(text[:end], findings)
        return self.scrub(text)

    def _find_beginning(self, text: str, characters: int) -> list[Finding]:
        """Returns the values that begin among the first characters."""
        near = text[: characters + _NEAR]
        findings = [finding for finding in self.find(near) if finding.start < characters]
        is_cut = _TO_THE_END.match(near, characters) or any(
            near[each.end :].strip() == "" for each in findings
        )
        if is_cut and len(near) < len(text):
            return [finding for finding in self.find(text) if finding.start < characters]
        return findings

    def find(self, text: str) -> list[Finding]:
        """Returns the personal data of a text, in order. The first of `PII_TYPES` wins an overlap."""
        found: list[Finding] = []
        text = _PLACEHOLDER.sub(_opaque, text)
        runs = find_runs(text)
        for name, finder in self._finders.items():
            found = _with_free(found, [Finding(*span, name) for span in finder.find(text, runs)])
        return found

    def _replace(
        self, text: str, findings: list[Finding], with_surrogates: bool = True
    ) -> tuple[str, list[int]]:
        """Returns the text with replacements, and where they begin."""
        parts, places, position, length = [], [], 0, 0
        for start, end, name in findings:
            replacement = self._replacement(name, text[start:end], with_surrogates)
            parts += [text[position:start], replacement]
            places.append(length + start - position)
            position, length = end, places[-1] + len(replacement)
        return "".join([*parts, text[position:]]), places

    def _replacement(self, name: str, value: str, with_surrogates: bool = True) -> str:
        if self._config.replacement == "placeholder" or not with_surrogates:
            return f"<{name.upper()}>"
        own = self._finders[name]
        others = [finder for finder in self._finders.values() if finder is not own]
        for attempt in range(_ATTEMPTS):
            surrogate = own.reshape(value, digest(str(self._config.seed), name, value, str(attempt)))
            if not any(finder.accepts(surrogate) for finder in (own, *others)):
                return surrogate
        return f"<{name.upper()}>"


def _with_free(found: list[Finding], further: list[Finding]) -> list[Finding]:
    """Returns `found` with those findings of `further` that do not overlap others, in order."""
    merged: list[Finding] = []
    place = 0
    for each in further:
        while place < len(found) and found[place].start <= each.start:
            merged.append(found[place])
            place += 1
        begins_free = not merged or merged[-1].end <= each.start
        if begins_free and (place == len(found) or each.end <= found[place].start):
            merged.append(each)
    return merged + found[place:]
