"""Licences of Creative Commons by their addresses, and in all versions."""

import pytest

from firth.corpus.report.datasheet import spdx_of

LICENCES = {
    "http://creativecommons.org/licenses/by/3.0/": "CC-BY-3.0",
    "https://www.creativecommons.org/licenses/BY-NC-ND/2.5": "CC-BY-NC-ND-2.5",
    "https://creativecommons.org/licenses/by-sa/4.0/legalcode.en": "CC-BY-SA-4.0",
    "creativecommons.org/publicdomain/zero/1.0/": "CC0-1.0",
    "CC BY-SA 2.5": "CC-BY-SA-2.5",
    "cc-by-nc-sa-3.0": "CC-BY-NC-SA-3.0",
    # A deed of one country; no licence; no such version; something else that names one.
    "https://creativecommons.org/licenses/by/3.0/us/": None,
    "https://creativecommons.org/publicdomain/mark/1.0/": None,
    "https://creativecommons.org/licenses/by/9.0/": None,
    "see https://creativecommons.org/licenses/by/4.0/": None,
}


@pytest.mark.parametrize(("words", "identifier"), LICENCES.items())
def test_identifier(words, identifier):
    assert spdx_of(words) == identifier
