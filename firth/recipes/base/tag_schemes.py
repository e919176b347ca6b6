"""Schemes of tags for stretches of words, such as entities, read from the tags of data."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

OUTSIDE = "O"
# First, inner, last and only word of a stretch, by the marks that schemes have for them.
_MARKS = {"B": "B", "I": "I", "M": "I", "E": "E", "L": "E", "S": "S", "U": "S", "W": "S"}
_NAMES = {
    "BI": "IOB2",
    "B": "IOB2",
    "I": "IO",
    "BILU": "BILOU",
    "BIES": "BIOES",
    "BEMS": "BMES",
    "BEMW": "BMEWO",
    "EI": "IOE2",
}
_PREFIX = re.compile(rf"([{''.join(_MARKS)}])[-_](.+)")
_SUFFIX = re.compile(rf"(.+)[-_]([{''.join(_MARKS)}])")
_FORMS = {"prefix": _PREFIX, "suffix": _SUFFIX, "bare": re.compile(f"[{''.join(_MARKS)}]")}


class TagScheme(NamedTuple):
    """A scheme of tags.

    Attributes:
        name: Name of the scheme, such as `IOB2` or `BILOU`.
        form: How tags are written: `prefix` as `B-PER`, `suffix` as `PER-B`, or `bare` as `B`.
        types: Types of the stretches; empty for bare tags.
    """

    name: str
    form: str
    types: tuple[str, ...]

    def chunk_tag(self, tag: str) -> str:
        """Returns a tag in the form that scores read: `O`, or `B-`, `I-`, `E-` or `S-` and a type.

        Example:

        >>> [tag_scheme(["O", "PER-U", "PER-L"]).chunk_tag(tag) for tag in ("PER-U", "PER-L", "O")]
        ['S-PER', 'E-PER', 'O']
        """
        if tag == OUTSIDE:
            return tag
        mark, type = _parts(tag, self.form)
        return f"{_MARKS[mark]}-{type}"

    @property
    def text(self) -> str:
        """The scheme in words.

        Example:

        >>> tag_scheme(["O", "B-PER", "I-PER", "B-LOC"]).text
        'IOB2, as B-LOC; types LOC, PER'
        """
        shown = {"prefix": "as B-{}", "suffix": "as {}-B", "bare": "without types"}[self.form]
        types = f"; types {', '.join(self.types)}" if self.types else ""
        return f"{self.name}, {shown.format(*self.types[:1])}{types}"


def tag_scheme(tags: Iterable[str], sentences: Iterable[Sequence[str]] = ()) -> TagScheme | None:
    """Returns the scheme of tags; None if they are of none, as parts of speech are.

    Example:

    >>> tag_scheme(["B", "I", "O"]).form, tag_scheme(["NOUN", "X"])
    ('bare', None)
    >>> tag_scheme(["I-PER", "B-PER", "O"], [["I-PER", "I-PER", "B-PER", "O"]]).name
    'IOB1'
    """
    known = sorted(set(tags) - {OUTSIDE})
    form = next((name for name, fits in _FORMS.items() if all(fits.fullmatch(tag) for tag in known)), "")
    if not form:
        return None
    parts = [_parts(tag, form) for tag in known]
    marks = "".join(sorted({mark for mark, _ in parts}))
    types = () if form == "bare" else tuple(sorted({type for _, type in parts}))
    found = TagScheme(_NAMES.get(marks, _name(marks)), form, types)
    is_first = set(marks) <= set("BI") and _begins_with_inner(found, sentences)
    return found._replace(name="IOB1") if is_first else found


def is_scheme_of_labels(tags: Iterable[str]) -> bool:
    """Returns whether all tags of data are of a scheme, and not single letters that are of none.

    Example:

    >>> is_scheme_of_labels(["O", "B", "I"]), is_scheme_of_labels(["S", "W"]), is_scheme_of_labels([])
    (True, False, True)
    """
    known = {*tags}
    found = tag_scheme(known)
    return found is not None and (found.form != "bare" or known <= {OUTSIDE} or bool(known & {"B", "I"}))


def _parts(tag: str, form: str) -> tuple[str, str]:
    """Returns the mark and the type of a tag."""
    if form == "bare":
        return tag, "_"
    match = (_PREFIX if form == "prefix" else _SUFFIX).fullmatch(tag)
    if match is None:
        raise ValueError(f"the tag {tag!r} is not {OUTSIDE}, or a mark such as B with a type")
    return (match[1], match[2]) if form == "prefix" else (match[2], match[1])


def _name(marks: str) -> str:
    """Returns the name of a scheme of which the data lack some marks."""
    whole = [each for each in ("BILU", "BIES", "BEMS", "BEMW") if set(marks) <= set(each)]
    return _NAMES[whole[0]] if whole else "mixed marks"


def _begins_with_inner(scheme: TagScheme, sentences: Iterable[Sequence[str]]) -> bool:
    """Returns whether stretches that follow none of their type begin with `I` more often than with `B`."""
    begins = {"B": 0, "I": 0}
    for tags in sentences:
        before = OUTSIDE
        for tag in map(scheme.chunk_tag, tags):
            if tag != OUTSIDE and tag[2:] != before[2:]:
                begins[tag[0]] += 1
            before = tag
    return begins["I"] > begins["B"]
