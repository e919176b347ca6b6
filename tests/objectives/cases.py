"""The table of objectives for shared tests: a new objective or setting adds a line."""

import functools
import typing
from collections.abc import Callable

import numpy as np

from firth import features
from firth.objectives import OBJECTIVES
from firth.recipes.objectives.denoising import Denoising, IidDenoising, SalientSpans, SpanCorruption
from firth.recipes.objectives.language_models import BidirectionalLM, CausalLM, PermutationLM, PrefixLM
from firth.recipes.objectives.masking import MaskedLM, ReplacedTokenDetection, SpanMasking, UniLM
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tokenizers import WordPieceTokenizer
from firth.tokenizers.graph.vocabulary import sentinel_pieces
from firth.tokenizers.word import WordTokenizer
from tests.objectives import recovery
from tests.objectives.rows import PIECES, SPECIALS, make_batch, negatives_of, random_rows
from tests.repeating import often

SEQUENCES = Sequences(length=40, max_documents=4)
ROWS = 60
# More, for what is a share of all.
MANY_ROWS = 240
# Two thirds of the pieces are capitalised, so that the rules for salient words find some.
PIECES_OF_WORDS = [f"{'W' if index % 3 else 'w'}{'x' * index}" for index in range(PIECES)]
WORD_PIECES = WordPieceTokenizer([*SPECIALS, *PIECES_OF_WORDS, *sentinel_pieces(40)], lowercase=False)
WORDS = WordTokenizer(["<S>", "</S>", "<UNK>", "a", "b", *PIECES_OF_WORDS], max_characters=6)
SEP = 3


class Case(typing.NamedTuple):
    """An objective with some settings.

    Attributes:
        config: The objective's part of a recipe.
        recover: From config and features of one row to the raw tokens of its documents, as far as they are
            found there; see `recovery`.
        tokenizer: Of the row.
        is_random: Whether the seed matters.
        closing: Labels that are not tokens of the document, apart from sentinels.
        is_exact: Whether special pieces of the text are found at their places.
    """

    config: typing.Any
    recover: Callable
    tokenizer: typing.Any = WORD_PIECES
    is_random: bool = True
    closing: frozenset[int] = frozenset()
    is_exact: bool = True


def alone(config):
    return Case(config, recovery.single)


def paired(config):
    return Case(config, recovery.pairs)


def to_the_end(config, recover, **kwargs):
    return Case(config, recover, closing=frozenset([SEP]), **kwargs)


def corrupted(config):
    return to_the_end(config, recovery.sentinels, is_exact=False)


CASES = {
    "masked_lm": paired(MaskedLM()),
    "masked_lm-order": paired(
        MaskedLM(next_sentence=False, sentence_order=True, max_ngram=3, whole_word=True)
    ),
    "masked_lm-hard": alone(
        MaskedLM(
            next_sentence=False,
            max_ngram=3,
            mask_rate=0.6,
            mask_token_rate=0.3,
            random_token_rate=0.6,
            max_predictions=40,
        )
    ),
    # Fewer predictions than most rows have room for.
    "masked_lm-exact": alone(
        MaskedLM(
            next_sentence=False,
            paper_exact=True,
            mask_token_rate=0.0,
            random_token_rate=1.0,
            max_predictions=4,
        )
    ),
    "span_masking": alone(SpanMasking()),
    "span_masking-hard": alone(SpanMasking(mask_rate=0.5, max_predictions=40, max_span=4, boundary_places=3)),
    "span_masking-alone": alone(SpanMasking(boundary=False)),
    "replaced": alone(ReplacedTokenDetection()),
    "unilm": Case(UniLM(), recovery.pairs),
    "unilm-paper": paired(UniLM(single_segments=True, next_sentence=True)),
    "permutation": Case(PermutationLM(), recovery.permuted),
    "permutation-hard": Case(PermutationLM(predicted_fraction=0.6, max_predictions=7), recovery.permuted),
    "causal": to_the_end(CausalLM(), recovery.causal, is_random=False),
    "causal-none": to_the_end(CausalLM(begin="none"), recovery.causal, is_random=False),
    "prefix": to_the_end(PrefixLM(), recovery.split),
    "prefix-encoder": to_the_end(PrefixLM(architecture="encoder_decoder"), recovery.split),
    "bidirectional": Case(
        BidirectionalLM(), recovery.both_directions, WORDS, is_random=False, closing=frozenset([0, 1])
    ),
    "spans": corrupted(SpanCorruption()),
    "spans-unrolled": corrupted(SpanCorruption(random_roll=False, closing_sentinel=True)),
    "spans-decoder": corrupted(
        SpanCorruption(architecture="decoder", noise_density=0.6, mean_span=2.0, closing_sentinel=True)
    ),
    "iid": corrupted(IidDenoising(noise_density=0.4)),
    "salient": corrupted(SalientSpans(max_span=3)),
    "salient-alone": corrupted(SalientSpans(fallback=False, architecture="decoder")),
    "bart": Case(Denoising(), recovery.written, closing=frozenset([2, SEP])),
    "bart-hard": Case(
        Denoising(rotate=0.5, delete_rate=0.2, mask_rate=0.2, infill_rate=0.4, infill_mean=0.6),
        recovery.written,
        closing=frozenset([2, SEP]),
    ),
    "bart-nothing": Case(
        Denoising(permute_sentences=False, infill_rate=0.0),
        recovery.written,
        is_random=False,
        closing=frozenset([2, SEP]),
    ),
}
# A graph of each takes half a second. What is special to these, literal examples or other cases have too.
REPEATED = {
    "masked_lm-hard",
    "span_masking",
    "span_masking-alone",
    "unilm-paper",
    "permutation-hard",
    "causal-none",
    "prefix-encoder",
    "spans-decoder",
    "salient",
    "bart-nothing",
}
CORRUPTING = [name for name, case in CASES.items() if case.recover in (recovery.sentinels, recovery.written)]
CHOOSING = [name for name, case in CASES.items() if hasattr(case.config, "max_predictions")]
HIDING = [name for name in CHOOSING if hasattr(CASES[name].config, "paper_exact")]


def of_each(names=CASES) -> list:
    """Parameters of a test: cases of which some are tried by the repeated tests."""
    return often(names, {*names} - REPEATED)


class Made(typing.NamedTuple):
    """Rows, and the features that an objective made of them."""

    case: Case
    objective: typing.Any
    rows: dict
    negatives: dict
    seeds: np.ndarray
    features: dict

    @property
    def config(self):
        return self.case.config

    def again(self, rows=None, negatives=None, seeds=None):
        """The features of other rows, negatives or seeds."""
        given = (rows or self.rows, negatives or self.negatives, self.seeds if seeds is None else seeds)
        return make_batch(self.objective, *given)

    def each(self):
        """Yields the features of each row, with the raw tokens of its documents."""
        for index in range(ROWS):
            yield {name: value[index] for name, value in self.features.items()}, self.documents(index)

    def documents(self, index, negative=False):
        """The raw tokens of a row's documents, or of its negative's."""
        rows = self.negatives if negative else self.rows
        lengths = rows[features.CHUNK_LENGTHS][index]
        texts = np.split(rows[features.RAW_TOKENS][index], np.cumsum(lengths))
        return [text.tolist() for text in texts[: np.count_nonzero(lengths)]]


@functools.cache
def make(name: str) -> Made:
    """Makes the features of a case: of the same random rows for all that have rows of the same length."""
    made = make_many(name)
    first = [
        {key: value[:ROWS] for key, value in part.items()}
        for part in (made.rows, made.negatives, made.features)
    ]
    return Made(made.case, made.objective, *first[:2], made.seeds[:ROWS], first[2])


@functools.cache
def make_many(name: str) -> Made:
    """Makes the features of a case of more rows, which begin with those of `make`."""
    case = CASES[name]
    objective = OBJECTIVES[case.config.kind](case.config, SEQUENCES, case.tokenizer)
    special_tokens = case.config.special_tokens
    room = objective.raw_length + special_tokens
    rows = dict(rows_of(room, special_tokens))
    if case.tokenizer is WORDS:
        rows[features.CHARACTERS] = characters_of(rows[features.RAW_TOKENS])
    negatives = negatives_of(rows)
    seeds = np.stack([np.full(MANY_ROWS, 7), np.arange(MANY_ROWS)], axis=1)
    return Made(case, objective, rows, negatives, seeds, make_batch(objective, rows, negatives, seeds))


@functools.cache
def rows_of(room, special_tokens):
    """Random rows that many cases share; nobody writes in them."""
    return random_rows(MANY_ROWS, room, special_tokens, SEQUENCES.max_documents)


def characters_of(tokens):
    """Characters that tell which word they are of: int32 [..., max_characters]."""
    return (tokens[..., np.newaxis] * 7 + np.arange(WORDS.max_characters)).astype("int32")
