import pytest

from firth.tokenizers import WordPieceTokenizer
from tests.tokenizers.golden.hard_strings import SPECIALS, VOCABULARY
from tests.tokenizers.reference import Reference


@pytest.fixture(scope="session")
def both():
    """{lowercase: (our tokenizer, the reference)}, on the vocabulary of the hard strings."""
    return {
        lowercase: (WordPieceTokenizer(VOCABULARY, lowercase), Reference(VOCABULARY, lowercase))
        for lowercase in (True, False)
    }


@pytest.fixture(scope="session")
def small():
    """A vocabulary to read: the ids stand next to the pieces."""
    return WordPieceTokenizer([*SPECIALS, "the", "qu", "##ick", "fox", "##es", "."])
