"""The raw tokens of a row's documents, found again in what an objective made of it."""

import numpy as np

from firth import features

SENTINELS_FROM = 100  # The ids below are special and ordinary pieces of the tests' vocabulary.


def by_document(made, ids, kind=""):
    """The ids at the places of each document."""
    numbers = made[f"{kind}document_ids"]
    return [ids[numbers == number].tolist() for number in range(1, numbers.max() + 1)]


def restored(made):
    """Token ids with the labels of predicted tokens put back."""
    tokens, used = made[features.TOKEN_IDS].copy(), made[features.MASKED_WEIGHTS] > 0
    tokens[made[features.MASKED_POSITIONS][used]] = made[features.MASKED_LABELS][used]
    return tokens


def single(config, made):
    """`[CLS] A [SEP]`."""
    return [document[1:-1] for document in by_document(made, restored(made))]


def segments(made):
    """`[CLS] A [SEP] B [SEP]`: A and B of each document; `[CLS] A [SEP]`: A and nothing."""
    texts = by_document(made, restored(made))
    seconds = by_document(made, made[features.SEGMENT_IDS])
    cuts = [second.index(1) if 1 in second else len(second) for second in seconds]
    return [(text[1 : cut - 1], text[cut:-1]) for text, cut in zip(texts, cuts)]


def pairs(config, made):
    """Both segments in their order; the first one alone where the second is a random one."""
    other = made.get(features.NEXT_SENTENCE_LABELS, np.zeros(99))
    swapped = made.get(features.SENTENCE_ORDER_LABELS, np.zeros(99))
    found = []
    for number, (first, second) in enumerate(segments(made)):
        whole = second + first if swapped[number] else first + second
        found.append(first if other[number] else whole)
    return found


def permuted(config, made):
    """`A [SEP] B [SEP] [CLS]`, which hides nothing."""
    np.testing.assert_array_equal(restored(made), made[features.TOKEN_IDS])
    texts = by_document(made, made[features.TOKEN_IDS])
    cuts = [second.index(1) for second in by_document(made, made[features.SEGMENT_IDS])]
    return [text[: cut - 1] + text[cut:-2] for text, cut in zip(texts, cuts)]


def causal(config, made):
    """The labels, which the tokens repeat one place later."""
    texts, labels = (by_document(made, made[name]) for name in (features.TOKEN_IDS, features.LABEL_IDS))
    assert [text[1:] for text in texts] == [label[:-1] for label in labels]
    # Without a special token in front, the first token is not predicted.
    alone = config.begin == "none"
    return [[*text[:alone], *label[:-1]] for text, label in zip(texts, labels)]


def split(config, made):
    """The prefix, and the labels of the rest; all of it in the prefix where nothing is predicted."""
    if config.architecture == "decoder":
        starts, inner, closing = "", slice(1, None), None
    else:
        starts, inner, closing = "decoder_", slice(None, -1), -1
    found = []
    texts = by_document(made, made[features.TOKEN_IDS])
    labels = by_document(made, made[features.LABEL_IDS], starts)
    weights = by_document(made, made[features.LABEL_WEIGHTS], starts)
    for text, label, weight in zip(texts, labels, weights):
        rest = [each for each, counts in zip(label, weight) if counts][:-1]
        prefix = text[inner] if closing else text[1 : len(text) - len(rest)]
        found.append(prefix + rest)
        assert closing or text[len(text) - len(rest) :] == rest
    return found


def both_directions(config, made):
    """The labels of each direction."""
    forward, backward = (
        by_document(made, made[name]) for name in (features.LABEL_IDS, features.BACKWARD_LABEL_IDS)
    )
    assert [label[:-2] for label in forward] == [label[2:] for label in backward]
    return [label[:-2] for label in forward]


def sentinels(config, made):
    """Inputs with each sentinel's tokens put in. A special piece may stand before a span or after it."""
    texts, labels = by_document(made, made[features.TOKEN_IDS]), _targets(config, made)
    found = []
    for text, label in zip(texts, labels):
        if config.architecture == "decoder":
            text = text[: len(text) - max(len(label) - 1, 0)]
        spans = {}
        for each in label[:-1]:
            if each >= SENTINELS_FROM:
                spans[each] = []
            else:
                spans[next(reversed(spans))].append(each)
        found.append([token for each in text[:-1] for token in spans.pop(each, [each])])
        assert not spans
    return found


def _targets(config, made):
    kind = "" if config.architecture == "decoder" else "decoder_"
    labels = by_document(made, made[features.LABEL_IDS], kind)
    weights = by_document(made, made[features.LABEL_WEIGHTS], kind)
    return [[each for each, counts in zip(label, weight) if counts] for label, weight in zip(labels, weights)]


def written(config, made):
    """BART's labels, `[CLS] x1 ... xn [SEP]`."""
    return [label[1:-1] for label in by_document(made, made[features.LABEL_IDS], "decoder_")]
