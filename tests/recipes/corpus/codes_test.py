"""The codes that recipes may name are those that the packages know."""

import phonenumbers

from firth.corpus.text.language_model import language_model
from firth.recipes.corpus.codes import LANGUAGES, PHONE_REGIONS


def test_languages_are_those_of_the_model():
    assert tuple(sorted(language_model().languages)) == LANGUAGES


def test_regions_are_those_with_numbers():
    assert tuple(sorted(phonenumbers.SUPPORTED_REGIONS)) == PHONE_REGIONS
