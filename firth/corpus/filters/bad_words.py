"""Documents with words that a list forbids."""

import re
from collections.abc import Iterable

from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import CorpusError
from firth.corpus.documents.steps import Decision, DocumentStep, Drop, Keep
from firth.corpus.filters.language import identify
from firth.corpus.io.lines import read_lines
from firth.corpus.text.words import comparable_text
from firth.recipes.corpus.filters import BadWordsStep, WordList

_WORD = re.compile(r"\w+")
_MAX_ENTRY_BYTES = 2**12
# The language of a longer document is told from its beginning.
_LANGUAGE_CHARACTERS = 10_000


class BadWords(DocumentStep):
    """Drops documents with an entry of a list as `bad_word`, whatever its case and form (`comparable_text`).

    The language of a document matters, and is looked at, only where an entry of a list for one was found.

    Raises:
        CorpusError: on construction, for a list that cannot be read or is empty.
    """

    reasons = frozenset({"bad_word"})

    def __init__(self, config: BadWordsStep):
        self._lists = [_Entries(each, _read_entries(each)) for each in config.lists]

    def decide(self, document: Document) -> Decision:  # noqa: D102
        text = comparable_text(document.text)
        words, language = set(_WORD.findall(text)), None
        for entries in self._lists:
            if entries.occur_in(text, words):
                if entries.language and not language:
                    language, _ = identify(document.text[:_LANGUAGE_CHARACTERS])
                if not entries.language or entries.language == language:
                    return Drop("bad_word")
        return Keep(document)


class _Entries:
    """The entries of a list: single words, which are looked up, and phrases, which are searched.

    A phrase is searched only where the longest of its words was found.
    """

    def __init__(self, config: WordList, entries: Iterable[str]):
        self.language = config.language
        self._parts: tuple[str, ...] = ()
        self._words: frozenset[str] = frozenset()
        self._phrases: dict[str, list[re.Pattern[str]]] = {}
        if not config.whole_words:
            self._parts = tuple(sorted(entries))
            return
        self._words = frozenset(entry for entry in entries if _WORD.fullmatch(entry))
        for entry in sorted(set(entries) - self._words):
            pattern = r"\s+".join(map(re.escape, entry.split()))
            key = max(_WORD.findall(entry), key=len, default="")
            self._phrases.setdefault(key, []).append(re.compile(rf"(?<!\w){pattern}(?!\w)"))

    def occur_in(self, text: str, words: set[str]) -> bool:
        """Returns whether an entry stands in a comparable text, of which the words are given."""
        if not self._words.isdisjoint(words) or any(part in text for part in self._parts):
            return True
        found = [key for key in self._phrases if key in words or not key]
        return any(pattern.search(text) for key in found for pattern in self._phrases[key])


def _read_entries(config: WordList) -> frozenset[str]:
    entries = set()
    for line in read_lines(config.path, _MAX_ENTRY_BYTES):
        if line.problem:
            raise CorpusError(f"{config.path}, line {line.number}: {line.problem}")
        try:
            entries.add(comparable_text(line.data.decode("utf-8-sig").strip()))
        except UnicodeDecodeError:
            raise CorpusError(f"{config.path}, line {line.number}: invalid_utf8") from None
    if not entries - {""}:
        raise CorpusError(f"{config.path} has no entry")
    return frozenset(entries - {""})
