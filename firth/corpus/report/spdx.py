"""The identifiers of SPDX for licences in the words of their owners."""

import re

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


def _plain(words: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", words.casefold()).strip("-")


_BY_NAME = {_plain(name): id for name, id in [*zip(_IDS, _IDS), *_NAMES.items()]}


def spdx_of(licence: str) -> str | None:
    """Returns the SPDX identifier of a licence; None where its words do not name one, with its version.

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
