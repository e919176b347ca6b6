"""Ids equal Hugging Face's BertTokenizerFast on the committed hard strings."""

import json
import pathlib

import pytest

from tests.tokenizers.golden import hard_strings

GOLDEN = json.loads(pathlib.Path(__file__).with_name("golden").joinpath("hard_strings.json").read_text())
KEYS = {True: "uncased_ids", False: "cased_ids"}


def differences(strings, expected, found):
    return [
        (text, want, got) for text, want, got in zip(strings, expected, found, strict=True) if want != got
    ]


@pytest.mark.parametrize("lowercase", [True, False])
def test_ids_equal_the_golden_file(both, lowercase):
    found = both[lowercase][0].tokenize(GOLDEN["strings"], specials=hard_strings.SPECIALS).to_list()
    assert differences(GOLDEN["strings"], GOLDEN[KEYS[lowercase]], found) == []


@pytest.mark.parametrize("lowercase", [True, False])
def test_ids_equal_the_installed_reference(both, lowercase):
    ours, reference = both[lowercase]
    strings = hard_strings.STRINGS
    assert differences(strings, reference(strings), ours.tokenize(strings).to_list()) == []


def test_the_golden_file_is_fresh():
    assert GOLDEN["strings"] == hard_strings.STRINGS
    assert GOLDEN["vocabulary"] == hard_strings.VOCABULARY
    assert {"python", "transformers", "tokenizers"} == set(GOLDEN["versions"])


def test_the_strings_are_hard(both):
    """They tell cased from uncased, and most of them are more than [UNK]."""
    assert sum(a != b for a, b in zip(GOLDEN["uncased_ids"], GOLDEN["cased_ids"])) > 30
    unknown = both[True][0].unk_id
    assert sum(any(i != unknown for i in ids) for ids in GOLDEN["uncased_ids"]) > 150
