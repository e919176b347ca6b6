"""The step that drops documents with words or phrases of a list."""

import re
from collections.abc import Iterable

from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import CorpusError
from firth.corpus.documents.steps import Decision, DocumentStep, Drop, Keep
from firth.corpus.filters.language import identify
from firth.corpus.io.file_contents import read_list
from firth.corpus.text.comparable_text import comparable_text
from firth.recipes.corpus.filters import BadWordsStep, WordList
from firth.segmentation.words import has_unspaced, split_words

_WORD = re.compile(r"\w+")


class BadWords(DocumentStep[BadWordsStep]):
    """Drops documents that contain an entry of a list, for the reason `bad_word`.

    Text and entries are compared without case and invisible characters, as `comparable_text` returns them. A
    list may be for one language. The language of a document is identified only if an entry of such a list was
    found.

    Raises:
        CorpusError: on construction, if a list cannot be read or is empty.
    """

    reasons = frozenset({"bad_word"})

    def __init__(self, config: BadWordsStep) -> None:
        super().__init__(config)
        self._lists = [_Entries(each, _read_entries(each)) for each in config.lists]

    def decide(self, document: Document) -> Decision:  # noqa: D102
        text = comparable_text(document.text)
        words, language = _words_of(text), None
        for entries in self._lists:
            if entries.occur_in(text, words):
                if entries.language and not language:
                    language, _ = identify(document.text)
                if not entries.language or entries.language == language:
                    return Drop("bad_word")
        return Keep(document)


class _Entries:
    """The entries of a list: words, which are looked up in a set, and phrases, which are searched for.

    A phrase is searched for only if the longest of its words is in the text.
    """

    def __init__(self, config: WordList, entries: Iterable[str]) -> None:
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
        """Returns whether an entry occurs in a text of `comparable_text`, whose different words are given."""
        if not self._words.isdisjoint(words) or any(part in text for part in self._parts):
            return True
        found = [key for key in self._phrases if key in words or not key]
        return any(pattern.search(text) for key in found for pattern in self._phrases[key])


def _words_of(text: str) -> set[str]:
    """Returns the different words of a text; in scripts without spaces also those that ICU finds."""
    words = set(_WORD.findall(text))
    return words.union(*(_WORD.findall(word) for word in split_words(text))) if has_unspaced(text) else words


def _read_entries(config: WordList) -> frozenset[str]:
    entries = frozenset(comparable_text(text) for _, text in read_list(config.path)) - {""}
    if not entries:
        raise CorpusError(f"{config.path} has no entry")
    return entries
