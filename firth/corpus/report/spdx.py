"""The identifiers of SPDX for licences in the words of their owners."""

import re

_IDS = (
    *("0BSD", "AGPL-3.0-only", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "GPL-2.0-only"),
    *("CC-BY-2.0", "CC-BY-3.0", "CC-BY-4.0", "CC-BY-SA-2.0", "CC-BY-SA-3.0", "CC-BY-SA-4.0"),
    *("CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "CC-BY-ND-4.0", "CC-BY-NC-ND-4.0", "GPL-3.0-only", "ISC"),
    *("LGPL-2.1-only", "LGPL-3.0-only", "MIT", "MPL-2.0", "ODC-By-1.0", "ODbL-1.0", "PDDL-1.0", "PSF-2.0"),
    "Unlicense",
)
# Names that leave no doubt about the version.
_NAMES = {
    "CC0": "CC0-1.0",
    "The MIT License": "MIT",
    "MIT License": "MIT",
    "Apache License 2.0": "Apache-2.0",
}


def _plain(words: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", words.casefold()).strip("-")


_BY_NAME = {_plain(name): id for name, id in [*zip(_IDS, _IDS), *_NAMES.items()]}


def spdx_of(licence: str) -> str | None:
    """Returns the SPDX identifier of a licence; None where its words do not name one, with its version.

    Args:
        licence: The licence in the words of its owner.

    Example:

    >>> spdx_of("CC BY-SA 4.0"), spdx_of("cc0"), spdx_of("as each page states"), spdx_of("Apache")
    ('CC-BY-SA-4.0', 'CC0-1.0', None, None)
    """
    return _BY_NAME.get(_plain(licence))
