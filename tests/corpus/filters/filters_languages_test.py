"""A clean text in any language goes through every step with its default values."""

import typing

import pytest

from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.steps import Keep
from firth.recipes.corpus.filters import LanguageStep
from firth.recipes.corpus.step import Language
from tests.corpus.curation.step_table_test import defaults
from tests.corpus.helpers import document
from tests.segmentation.languages import LANGUAGES

CONFIGS = [each for each in defaults() if each.kind != "language"]


def test_all_steps_are_asked():
    kinds = {each.kind for each in CONFIGS}
    assert {
        "length",
        "characters",
        "c4",
        "gopher_quality",
        "gopher_repetition",
        "fineweb",
        "normalize",
    } <= kinds


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_clean_text_is_kept_as_it_is(language):
    given = document(LANGUAGES[language])
    is_known = language in typing.get_args(Language)
    own = [LanguageStep(kind="language", languages=(language,))] if is_known else []
    decided = {each.kind: STEPS[each.kind](each).decide(given) for each in [*CONFIGS, *own]}
    assert {kind: each for kind, each in decided.items() if not isinstance(each, Keep)} == {}
    assert {kind for kind, each in decided.items() if each.document != given} <= {"normalize"}
