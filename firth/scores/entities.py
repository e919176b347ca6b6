"""F1 of entities, by seqeval: an entity counts if its words and its type are all right."""

import operator
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from firth.recipes.base.tag_schemes import TagScheme, tag_scheme
from firth.scores.bootstrap import OfPlaces
from firth.scores.inputs import Ints, check_pairs

Tags = Sequence[str]


def tag_accuracy(references: Sequence[Tags], predictions: Sequence[Tags]) -> float:
    """Returns the share of the words of all sentences whose tag is right; 0 of no words.

    Raises:
        ValueError: as `sentences_of_tags` says.

    Example:

    >>> tag_accuracy([["DET", "NOUN", "VERB"], ["NOUN"]], [["DET", "VERB", "VERB"], ["NOUN"]])
    0.75
    """
    right, given = sentences_of_tags(references, predictions)
    hits = [one == other for pair in zip(right, given) for one, other in zip(*pair)]
    return sum(hits) / len(hits) if hits else 0.0


def tag_accuracy_of_places(references: Sequence[Tags], predictions: Sequence[Tags]) -> OfPlaces:
    """Returns `tag_accuracy` of resamples, as a function of places; words are compared once."""
    right, given = sentences_of_tags(references, predictions)
    hits = np.array([sum(map(operator.eq, *pair)) for pair in zip(right, given)])
    words = np.array([len(tags) for tags in right])

    def value_of(places: Ints) -> float:
        total = words[places].sum()
        return float(hits[places].sum() / total) if total else 0.0

    return value_of


def sentences_of_tags(
    references: Sequence[Tags], predictions: Sequence[Tags]
) -> tuple[list[list[str]], list[list[str]]]:
    """Returns references and predictions as lists, which are of the same words."""
    check_pairs(references, predictions)
    right, given = [list(tags) for tags in references], [list(tags) for tags in predictions]
    for place, (tags, predicted) in enumerate(zip(right, given)):
        if len(tags) != len(predicted):
            raise ValueError(
                f"sentence {place} has {len(tags)} tags, but {len(predicted)} predicted ones; "
                "words that were cut off must be predicted as O"
            )
    return right, given


_IOB2 = re.compile(r"O|[BI]-.+")
# The schemes that are read strictly, with their names in seqeval.
_STRICT = {"IOB2": "IOB2", "IO": "IOB2", "IOE2": "IOE2", "BIOES": "IOBES", "BILOU": "IOBES", "BMEWO": "IOBES"}


def entity_f1(references: Sequence[Tags], predictions: Sequence[Tags]) -> float:
    """Returns micro F1 of entities as seqeval's default and the script conlleval count them.

    An `I-` that continues nothing begins an entity. It is 0 where neither side has an entity, and of no
    examples.

    Raises:
        ValueError: for tags of no scheme, or as `sentences_of_tags` says.

    Example:

    >>> round(entity_f1([["B-PER", "I-PER", "O", "B-LOC"]], [["B-PER", "I-PER", "O", "O"]]), 4)
    0.6667
    >>> entity_f1([["PER-B", "PER-L", "O", "LOC-U"]], [["PER-B", "PER-L", "O", "LOC-U"]])
    1.0
    """
    from seqeval.metrics import f1_score

    right, given, _ = _chunk_tags(references, predictions)
    return float(f1_score(right, given, zero_division=0)) if right else 0.0


def entity_f1_strict(references: Sequence[Tags], predictions: Sequence[Tags]) -> float:
    """Returns micro F1 of entities, strictly in the scheme of the tags; `B` and `I` are read as IOB2.

    In IOB2, an `I-` that continues nothing belongs to no entity. It is 0 where neither side has an entity,
    and of no examples.

    Raises:
        ValueError: as of `entity_f1`.

    Example:

    >>> entity_f1_strict([["B-PER", "I-PER"]], [["I-PER", "I-PER"]])
    0.0
    """
    from seqeval.metrics import f1_score

    right, given, scheme = _chunk_tags(references, predictions)
    strict = _strict(scheme)
    return float(f1_score(right, given, mode="strict", scheme=strict, zero_division=0)) if right else 0.0


def entity_f1_of_places(references: Sequence[Tags], predictions: Sequence[Tags]) -> OfPlaces:
    """Returns `entity_f1` of resamples, as a function of places; entities are found once."""
    from seqeval.metrics.sequence_labeling import get_entities

    right, given, _ = _chunk_tags(references, predictions)
    return _micro_f1([set(get_entities(tags)) for tags in right], [set(get_entities(tags)) for tags in given])


def entity_f1_strict_of_places(references: Sequence[Tags], predictions: Sequence[Tags]) -> OfPlaces:
    """Returns `entity_f1_strict` of resamples, as a function of places; entities are found once."""
    from seqeval.scheme import Entities

    right, given, scheme = _chunk_tags(references, predictions)
    strict = _strict(scheme)
    sides = (
        [{each.to_tuple() for each in of_one} for of_one in Entities(side, strict).entities]
        for side in (right, given)
    )
    return _micro_f1(*sides)


def _micro_f1(right: Sequence[set[Any]], given: Sequence[set[Any]]) -> OfPlaces:
    both = np.array([len(one & other) for one, other in zip(right, given, strict=True)])
    all_of = np.array([len(one) + len(other) for one, other in zip(right, given, strict=True)])

    def value_of(places: Ints) -> float:
        total = all_of[places].sum()
        return float(2 * both[places].sum() / total) if total else 0.0

    return value_of


def invalid_tags(sentences: Sequence[Tags]) -> list[tuple[int, int]]:
    """Returns the places, as sentence and word, of the tags that IOB2 does not allow there.

    They are those of another form, and each `I-` that does not follow `B-` or `I-` of its type. The two
    scores of entities differ only by them.

    Args:
        sentences: Tags of the words of each sentence.

    Example:

    >>> invalid_tags([["O", "I-PER", "I-PER"], ["B-PER", "I-LOC"]])
    [(0, 1), (1, 1)]
    """
    return [
        (place, word)
        for place, tags in enumerate(sentences)
        for word, (before, tag) in enumerate(zip(["O", *tags], tags))
        if not _IOB2.fullmatch(tag) or (tag.startswith("I-") and before[2:] != tag[2:])
    ]


def _chunk_tags(
    references: Sequence[Tags], predictions: Sequence[Tags]
) -> tuple[list[list[str]], list[list[str]], TagScheme]:
    """Returns the tags in the form that seqeval reads, and their scheme."""
    right, given = sentences_of_tags(references, predictions)
    known = {tag for tags in (*right, *given) for tag in tags}
    scheme = tag_scheme(known)
    if scheme is None:
        odd = sorted(tag for tag in known if tag_scheme([tag]) is None)
        raise ValueError(
            f"the tag {(odd or sorted(known))[0]!r} is not of a scheme of entities, such as B-PER"
        )
    form = {tag: scheme.chunk_tag(tag) for tag in known}
    right, given = ([[form[tag] for tag in tags] for tags in side] for side in (right, given))
    return right, given, scheme


def _strict(scheme: TagScheme) -> Any:
    """Returns the scheme as seqeval has it, for its strict mode."""
    import seqeval.scheme

    if scheme.name not in _STRICT:
        raise ValueError(f"entities of the scheme {scheme.name} are not read strictly; take entity_f1")
    return getattr(seqeval.scheme, _STRICT[scheme.name])
