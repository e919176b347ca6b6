import re

import pytest

from firth.corpus.filters.language_rules import unspaced_words


@pytest.mark.parametrize(
    "text, words",
    [
        ("", []),
        ("  Two words,\nno more ", ["Two", "words,", "no", "more"]),
        ("東京Tower3階", ["東", "京", "Tower3", "階"]),
        ("すごい！？ よ", ["す", "ご", "い！？", "よ"]),
        ("ที่นี่", ["ที่", "นี่"]),
        ("人々", ["人", "々"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("「是」", ["「", "是」"]),
    ],
)
def test_words(text, words):
    assert unspaced_words(text) == words


def test_nothing_is_lost_but_spaces():
    """Of all characters, in any neighbourhood."""
    text = "".join(chr(code) + "是a "[code % 3] for code in range(0x30000) if not 0xD800 <= code < 0xE000)
    assert "".join(unspaced_words(text)) == re.sub(r"\s", "", text)
