"""A datasheet of a cleaned corpus, made of facts (Gebru et al. 2018, "Datasheets for Datasets")."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from firth.corpus.documents.corpus_counts import DROPPED, REJECTED, UNITS
from firth.corpus.privacy.pii import Pii
from firth.recipes.corpus.privacy import PiiStep
from firth.recipes.corpus.sources import AnySource

UNKNOWN = "unknown"
OPEN = "Not known to firth; to be answered by whoever publishes the corpus."
# The Hub's names of numbers of documents, and their upper bounds.
_SIZES = (
    ("n<1K", 10**3),
    ("1K<n<10K", 10**4),
    ("10K<n<100K", 10**5),
    ("100K<n<1M", 10**6),
    ("1M<n<10M", 10**7),
    ("10M<n<100M", 10**8),
    ("100M<n<1B", 10**9),
    ("1B<n<10B", 10**10),
    ("10B<n<100B", 10**11),
    ("100B<n<1T", 10**12),
    ("n>1T", float("inf")),
)
# Languages with a smaller share of the sample may be mistakes of the classifier.
_LEAST_SHARE = 0.02
# Questions that no count answers.
_LEFT_OPEN = (
    "For what purpose was the corpus created, by whom, and who paid for it?",
    "Were the people whom the texts are about, or by, asked, and how can they withdraw?",
    "Over what time were the texts written?",
    "Which uses are the texts not fit for?",
    "How and where will the corpus be distributed, and who will maintain it?",
)
_CREATIVE_COMMONS = tuple(
    f"CC-{terms}-{version}"
    for terms in ("BY", "BY-SA", "BY-NC", "BY-ND", "BY-NC-SA", "BY-NC-ND")
    for version in ("1.0", "2.0", "2.5", "3.0", "4.0")
)
_IDS = (
    *("0BSD", "AGPL-3.0-only", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "GPL-2.0-only"),
    *("GPL-3.0-only", "ISC", "LGPL-2.1-only", "LGPL-3.0-only", "MIT", "MPL-2.0", "ODC-By-1.0", "ODbL-1.0"),
    *("PDDL-1.0", "PSF-2.0", "Unlicense"),
    *_CREATIVE_COMMONS,
)
# Names that leave no doubt about the version.
_NAMES = {
    "CC0": "CC0-1.0",
    "The MIT License": "MIT",
    "MIT License": "MIT",
    "Apache License 2.0": "Apache-2.0",
}
# Deeds of Creative Commons, whose licences of a country have identifiers of their own or none.
_DEED = re.compile(
    r"(?:https?://)?(?:www\.)?creativecommons\.org/(?:licenses|publicdomain)/([a-z-]+)/(\d\.\d)"
    r"(?:/(?:(?:deed|legalcode)(?:\.[a-z_-]+)?)?)?",
    re.IGNORECASE,
)


def make_datasheet(
    name: str,
    sources: Sequence[AnySource],
    fingerprint: str,
    digest: str,
    made: str,
    report: Mapping[str, Any],
    scrubber: Pii | None = None,
    files: Sequence[Mapping[str, str]] = (),
) -> dict[str, Any]:
    """Returns the facts about a corpus as a JSON object."""
    scrubber = scrubber or Pii(PiiStep(kind="pii"))
    licences = _summed(report["splits"], "licence")
    removed: dict[tuple[str, str, str], int] = {}
    for row in report["funnel"]:
        for outcome in (DROPPED, REJECTED):
            for reason, size in row[outcome].items():
                key = (row["step"], reason, outcome)
                removed[key] = removed.get(key, 0) + size["documents"]
    return {
        "name": name,
        "made": made,
        "fingerprint": fingerprint,
        "recipe_digest": digest,
        "sources": [
            {
                "name": each.name,
                "kind": each.kind,
                "places": [scrubber.scrub_metadata(place) for place in each.places],
                "licence": scrubber.scrub_metadata(each.licence),
            }
            for each in sources
        ],
        "splits": _summed(report["splits"], "split"),
        "licences": [{**row, "spdx": spdx_of(row["licence"])} for row in licences],
        "documents_of_unknown_licence": sum(
            row["documents"] for row in licences if row["licence"] == UNKNOWN
        ),
        "removed": [
            {"step": step, "rule": rule, "outcome": outcome, "documents": documents}
            for (step, rule, outcome), documents in removed.items()
        ],
        "languages": report["languages"]["cleaned"],
        "files": [dict(each) for each in files],
    }


def _summed(rows: Sequence[Mapping[str, Any]], key: str) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        sums = found.setdefault(row[key], {key: row[key], **dict.fromkeys(UNITS, 0)})
        for unit in UNITS:
            sums[unit] += row[unit]
    return [found[name] for name in sorted(found)]


def datasheet_page(sheet: Mapping[str, Any]) -> str:
    """Returns a datasheet as Markdown: answers where there are facts, and the other questions left open.

    It begins with the metadata that the Hugging Face Hub reads of a data set, by which the folder of the
    datasheet can be uploaded as it is, and `datasets.load_dataset` finds splits and formats.
    """
    facts = f"Made on {sheet['made']}. Recipe: `{sheet['recipe_digest']}`. Files: `{sheet['fingerprint']}`."
    unknown = sheet["documents_of_unknown_licence"]
    parts = [
        _front_matter(sheet),
        f"# Datasheet of {_shown(sheet['name'])}\n\n{facts}",
        "## What are the texts, and how many are there?",
        _table(sheet["splits"], ("split", *UNITS)),
        "## Where do they come from?",
        _table(sheet["sources"], ("name", "kind", "places", "licence")),
        "## Under which licences?",
        _table(sheet["licences"], ("licence", "spdx", *UNITS)),
        f"The licence of {unknown:,} documents is not known.",
        "## What was removed, and by which rule?",
        _table(sheet["removed"], ("step", "rule", "outcome", "documents")),
        "## In which languages are they?",
        _table(
            [{"language": name, "documents": count} for name, count in sheet["languages"].items()],
            ("language", "documents"),
        ),
        "The languages are those of a sample, as a classifier tells them.",
        *(f"## {question}\n\n{OPEN}" for question in _LEFT_OPEN),
    ]
    return "\n\n".join(parts) + "\n"


def _front_matter(sheet: Mapping[str, Any]) -> str:
    """Returns the metadata of a data set's card as YAML, of which JSON is a part."""
    licences = sorted({(row["spdx"] or UNKNOWN).lower() for row in sheet["licences"]})
    sample = sum(sheet["languages"].values())
    documents = sum(row["documents"] for row in sheet["splits"])
    formats = {each["kind"]: None for each in sheet["files"]}
    entries = {
        "pretty_name": sheet["name"],
        "license": licences,
        "language": [name for name, count in sheet["languages"].items() if count >= _LEAST_SHARE * sample],
        "size_categories": [next(name for name, most in _SIZES if documents < most)],
        "configs": [
            {
                "config_name": kind,
                "data_files": [
                    {"split": each["split"], "path": each["path"]}
                    for each in sheet["files"]
                    if each["kind"] == kind
                ],
            }
            for kind in formats
        ],
    }
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in entries.items() if value]
    return "\n".join(["---", *lines, "---"])


def _table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    if not rows:
        return "None."
    lines = [columns, ["---"] * len(columns), *([_shown(row[name]) for name in columns] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    if isinstance(value, int):
        return f"{value:,}"
    # A name must not end a cell or begin a tag.
    plain = " ".join(str("" if value is None else value).split())
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")


def _plain(words: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", words.casefold()).strip("-")


_BY_NAME = {_plain(name): id for name, id in [*zip(_IDS, _IDS), *_NAMES.items()]}


def spdx_of(licence: str) -> str | None:
    """Returns the SPDX identifier of a licence; None if its words do not name a licence and version.

    Example:

    >>> spdx_of("CC BY-SA 4.0"), spdx_of("cc0"), spdx_of("as each page states"), spdx_of("Apache")
    ('CC-BY-SA-4.0', 'CC0-1.0', None, None)
    >>> spdx_of("https://creativecommons.org/licenses/by-sa/2.5/deed.de")
    'CC-BY-SA-2.5'
    """
    deed = _DEED.fullmatch(licence.strip())
    return _BY_NAME.get(_plain(_name_of(*deed.groups()) if deed else licence))


def _name_of(terms: str, version: str) -> str:
    return f"CC0 {version}" if terms.lower() == "zero" else f"CC {terms} {version}"
