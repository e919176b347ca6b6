"""The codes that recipes may name are those that the packages know."""

from typing import get_args

import phonenumbers

from firth.corpus.filters.language import language_identifier
from firth.recipes.corpus.step import Language, PhoneRegion


def test_languages_are_those_of_the_model():
    assert tuple(sorted(language_identifier().languages)) == get_args(Language)


def test_regions_are_those_with_numbers():
    assert tuple(sorted(phonenumbers.SUPPORTED_REGIONS)) == get_args(PhoneRegion)
