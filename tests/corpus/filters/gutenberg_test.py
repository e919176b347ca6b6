import pytest

from firth.corpus.documents.steps import Drop, Keep
from firth.corpus.filters.gutenberg import Gutenberg
from firth.recipes.corpus.filters import GutenbergStep
from tests.corpus.helpers import document
from tests.shared_data import shared_data

STEP = Gutenberg(GutenbergStep(kind="gutenberg"))
HEADER = "The Project Gutenberg EBook of X\r\n\r\n*** START OF THIS PROJECT GUTENBERG EBOOK X ***\r\n"
FOOTER = "\r\nEnd of the Project Gutenberg EBook of X, by\r\nA. Author\r\n\r\n"
FOOTER += "*** END OF THIS PROJECT GUTENBERG EBOOK X ***"
LICENCE = "\r\n*** START: FULL LICENSE ***\r\nTHE FULL PROJECT GUTENBERG LICENSE"

TABLE = {
    "header and footer": (
        f"{HEADER}\r\nCall me Ishmael.\r\n{FOOTER}{LICENCE}",
        "Call me Ishmael.",
        {"header_cut": 1, "footer_cut": 1},
    ),
    "credits of two lines": (
        f"{HEADER}\r\nProduced by A,\r\nand B\r\n\r\n\r\nCall me.",
        "Call me.",
        {"header_cut": 1, "credits_cut": 1},
    ),
    "no blank in the mark, another word": (
        "***START OF THE PROJECT GUTENBERG ETEXT X***\nText.\n***END OF THE PROJECT GUTENBERG ETEXT X***\n",
        "Text.",
        {"header_cut": 1, "footer_cut": 1},
    ),
    "a mark of two lines": (
        "*** START OF THE PROJECT GUTENBERG EBOOK A LONG\nTITLE ***\nText.",
        "Text.",
        {"header_cut": 1},
    ),
    "two books": (
        f"{HEADER}One.{FOOTER}{LICENCE}\r\n{HEADER}Two.{FOOTER}{LICENCE}",
        "One.\n\nTwo.",
        {"header_cut": 2, "footer_cut": 2},
    ),
    "a footer alone": (f"Text.{FOOTER}{LICENCE}", "Text.", {"footer_cut": 1}),
    "a story about it": (
        "End of Project Gutenberg, they said.\nProduced by me.",
        "End of Project Gutenberg, they said.\nProduced by me.",
        {},
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_notices(name):
    text, expected, counts = TABLE[name]
    decision = STEP.decide(document(text))
    assert decision == Keep(document(expected), counts)


def test_nothing_but_notices():
    assert STEP.decide(document(HEADER + FOOTER + LICENCE)) == Drop("only_notices")


def test_credits_may_stay():
    step = Gutenberg(GutenbergStep(kind="gutenberg", credits=False))
    kept = step.decide(document(f"{HEADER}\r\nProduced by A\r\n\r\nText."))
    assert kept.document.text == "Produced by A\r\n\r\nText."


# Books whose own front matter speaks of the project.
MENTIONS = {"Great-Expectations": 1, "Moby-Dick": 1, "Paradise-Lost": 5}


@pytest.mark.repeated
@pytest.mark.needs_data("gutenberg_books", twin="test_notices")
def test_all_real_books():
    paths = sorted(shared_data("gutenberg_books").glob("*.txt"))
    assert len(paths) == 30
    for path in paths:
        text = path.read_bytes().decode("utf-8-sig")
        decision = STEP.decide(document(text))
        assert (
            {"header_cut", "footer_cut"}
            <= set(decision.counts)
            == set(decision.counts)
            & {
                "header_cut",
                "credits_cut",
                "footer_cut",
            }
        )
        left = decision.document.text
        # Header and licence are about 20,000 characters.
        assert 15_000 < len(text) - len(left) < 25_000, path
        mentions = sum(count for name, count in MENTIONS.items() if name in path.name)
        assert left.lower().count("project gutenberg") == mentions, path
        assert "*** " not in left[:100] + left[-100:]
        assert not left.lower().startswith(("produced by", "transcribed from"))
        assert left in text
