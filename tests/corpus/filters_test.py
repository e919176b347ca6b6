"""Each rule with a document just inside of its threshold and one just outside."""

import itertools
import math
import random

import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.errors import CorpusError
from firth.corpus.documents.steps import Drop, Keep
from firth.corpus.filters.language import identify
from firth.corpus.text.ngrams import repeated_ngrams
from firth.recipes.corpus.cleaning import Cleaning, Split
from firth.recipes.corpus.filters import (
    BadWordsStep,
    C4Step,
    FineWebStep,
    GopherQualityStep,
    GopherRepetitionStep,
    LanguageStep,
    WordList,
)
from tests.corpus.helpers import clean, document

QUALITY = GopherQualityStep(kind="gopher_quality")
REPETITION = GopherRepetitionStep(kind="gopher_repetition")
DUPLICATE_NGRAMS = GopherRepetitionStep(kind="gopher_repetition", top_ngrams=())
FINEWEB = FineWebStep(kind="fineweb")


def words(n: int, word: str = "cat") -> list[str]:
    return ["the", "and", *[word] * (n - 2)]


def text(n: int, word: str = "cat") -> str:
    return " ".join(words(n, word))


def unique(n: int, start: int = 0) -> list[str]:
    """Returns n different words of five letters."""
    return [f"{chr(97 + i // 26 % 26)}{chr(97 + i % 26)}{i:03}" for i in range(start, start + n)]


def with_repeat(n: int, total: int) -> str:
    """Returns `total` words of five letters, of which the last n stood at the beginning."""
    return " ".join([*unique(total - n), *unique(n)])


def apart(n: int) -> list[str]:
    """Returns n different words and four times another, never side by side."""
    return [each for i, word in enumerate(unique(n)) for each in (["ab"] * (i < 4) + [word])]


def lines(n: int, first: int, mark: str) -> str:
    """Returns n lines of five words, of which the `first` ones have a mark where a `|` is in it."""
    plain = text(5, "whale")
    marked = mark.replace("|", plain)
    return "\n".join([marked] * first + [plain] * (n - first))


SENTENCE = "The whale number {} swam all the way to the sea"

RULES = [
    (QUALITY, "too_few_words", text(50), text(49)),
    (QUALITY, "too_many_words", text(100_000), text(100_001)),
    (QUALITY, "words_too_short", text(50), f"{text(49)} be"),
    (QUALITY, "words_too_long", f"{text(50, 'x' * 10)} {'x' * 24}", f"{text(50, 'x' * 10)} {'x' * 25}"),
    (QUALITY, "too_many_hashes", f"{text(50)} #####", f"{text(50)} ######"),
    (QUALITY, "too_many_ellipses", f"... ... ... … … {text(45, 'whale')}",
     f"... ... ... … … … {text(44, 'whale')}"),
    (QUALITY, "too_many_bullet_lines", lines(10, 9, "• |"), lines(10, 10, "• |")),
    (QUALITY, "too_many_ellipsis_lines", lines(10, 3, "|…"), lines(10, 4, "|…")),
    (QUALITY, "too_few_alphabetic_words", f"{text(40)}{' 123' * 10}", f"{text(40)}{' 123' * 11}"),
    (QUALITY, "too_few_stop_words", text(50), f"the {'cat ' * 50}"),
    (REPETITION, "duplicate_paragraphs",
     "\n\n".join(apart(6)), "\n\n".join(apart(5))),
    (REPETITION, "duplicate_paragraph_characters",
     "\n\n".join([*unique(3), "abcde", "abcde"]), "\n\n".join([*unique(3), "abcdef", "abcdef"])),
    (REPETITION, "duplicate_lines", "\n".join(apart(6)), "\n".join(apart(5))),
    (REPETITION, "duplicate_line_characters",
     "\n".join([*unique(3), "abcde", "abcde"]), "\n".join([*unique(3), "abcdef", "abcdef"])),
    *(
        (REPETITION, f"top_{each.n}_gram", *(
            with_repeat(each.n, math.ceil(2 * each.n / each.max_character_fraction) - less) for less in (0, 1)
        ))
        for each in REPETITION.top_ngrams
    ),
    *(
        (DUPLICATE_NGRAMS, f"duplicate_{each.n}_grams", *(
            with_repeat(each.n, math.ceil(each.n / each.max_character_fraction) - less) for less in (0, 1)
        ))
        for each in REPETITION.duplicate_ngrams
    ),
    (FINEWEB, "too_few_punctuated_lines",
     "\n".join(SENTENCE.format(i) + "." * (i < 4) for i in range(25)),
     "\n".join(SENTENCE.format(i) + "." * (i < 3) for i in range(25))),
    (FINEWEB, "too_many_short_lines",
     "\n".join(f"{i} of the sea." if i < 66 else f"{SENTENCE.format(i)}." for i in range(100)),
     "\n".join(f"{i} of the sea." if i < 67 else f"{SENTENCE.format(i)}." for i in range(100))),
    (FINEWEB, "duplicate_line_characters",
     "\n".join(f"{SENTENCE.format(i % 10)}." for i in range(11)),
     "\n".join(f"{SENTENCE.format(i % 9)}." for i in range(10))),
    (FINEWEB, "too_many_line_breaks",
     "\n".join([f"{'whale' * 3} {'sea' * 3} {i:09}." for i in range(10)] + [f"{'whale' * 6} to the sea."]),
     "\n".join(f"{'whale' * 3} {'sea' * 3} {i:09}." for i in range(11))),
]  # fmt: skip


@pytest.mark.parametrize(("config", "reason", "inside", "outside"), RULES, ids=[row[1] for row in RULES])
def test_at_the_threshold(config, reason, inside, outside):
    step = STEPS[config.kind](config)
    assert reason in step.reasons
    assert step.decide(document(inside)) == Keep(document(inside))
    assert step.decide(document(outside)) == Drop(reason)


def test_every_rule_has_its_row():
    for config in (QUALITY, REPETITION, FINEWEB):
        assert {row[1] for row in RULES if row[0].kind == config.kind} == STEPS[config.kind](config).reasons


def test_thresholds_are_values():
    step = STEPS["gopher_quality"](GopherQualityStep(kind="gopher_quality", min_words=3, stop_words=("und",)))
    assert step.decide(document("the und cat")) == Drop("too_few_stop_words")
    step = STEPS["gopher_quality"](GopherQualityStep(kind="gopher_quality", min_words=3, min_stop_words=0))
    assert step.decide(document("the und cat")) == Keep(document("the und cat"))


def test_ngrams_against_a_naive_count():
    tokens = [*"ababacababdabcaba"]
    found = list(repeated_ngrams(tokens))
    for n in itertools.count(2):
        ngrams = ["".join(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]
        repeated = [i for i, ngram in enumerate(ngrams) if ngrams.count(ngram) > 1]
        if not repeated:
            break
        repeats = found.pop(0)
        assert repeats.n == n
        assert sorted(repeats.starts.tolist()) == repeated
        assert sorted(repeats.later.tolist()) == [i for i in repeated if ngrams[i] in ngrams[:i]]
        different = {ngrams[i] for i in repeated}
        assert sorted(repeats.counts.tolist()) == sorted(map(ngrams.count, different))
    assert not found


@pytest.mark.parametrize("text", ["", " ", "a", "a a", "a b", "a b a", "a a a", "a b a b"])
def test_ngrams_of_little_text(text):
    starts = [sorted(repeats.starts.tolist()) for repeats in repeated_ngrams(text.split())]
    assert starts == {"a a a": [[0, 1]], "a b a b": [[0, 2]]}.get(text, [])


FIVE = "One two three.\nTwo to sea!\nIs it three?\nHe said “four.”\nAnd that is it.\n"
C4_RULES = [
    ({}, FIVE, FIVE[:-1], {}),
    ({}, FIVE.replace("Two to sea!", "Two! Sea"), Drop("too_few_sentences"), {}),
    ({}, f"{FIVE}Four words, no end", FIVE[:-1], {"lines_without_end": 1}),
    ({}, f"{FIVE}And then he said...\nAnd so…", FIVE[:-1], {"lines_without_end": 2}),
    ({}, f"Read on.\n{FIVE}", FIVE[:-1], {"lines_too_few_words": 1}),
    ({}, f"{FIVE}Turn JavaScript on now.", FIVE[:-1], {"lines_javascript": 1}),
    ({}, f"{FIVE}See our Terms of Use.", FIVE[:-1], {"lines_policy": 1}),
    ({}, f"{FIVE}A word {'x' * 1000} of it.", f"{FIVE}A word {'x' * 1000} of it.", {}),
    ({}, f"{FIVE}A word {'x' * 1001} of it.", FIVE[:-1], {"lines_word_too_long": 1}),
    ({}, f"{FIVE}Cited[1] for [[2]3] it.[edit]", f"{FIVE}Cited for  it.", {"citations": 4}),
    ({}, f"{FIVE}Lorem Ipsum it is", Drop("lorem_ipsum"), {}),
    ({}, f"{FIVE}if (a) {{", Drop("curly_bracket"), {}),
    ({"lorem_ipsum": False}, f"{FIVE}A lorem ipsum is.", f"{FIVE}A lorem ipsum is.", {}),
    ({"curly_bracket": False}, f"{FIVE}A pair of {{}}.", f"{FIVE}A pair of {{}}.", {}),
    ({"min_sentences": 6}, FIVE, Drop("too_few_sentences"), {}),
    ({"min_sentences": 6}, f"Two are. {FIVE}", f"Two are. {FIVE[:-1]}", {}),
    ({"min_sentences": 0}, "Home\nNews", Drop("empty"), {}),
    ({"terminal_punctuation": False, "min_words_per_line": 0, "min_sentences": 0}, "a\n\n b", "a\nb", {}),
]  # fmt: skip


@pytest.mark.parametrize(("options", "given", "expected", "counts"), C4_RULES)
def test_c4(options, given, expected, counts):
    decision = STEPS["c4"](C4Step(kind="c4", **options)).decide(document(given))
    if isinstance(expected, Drop):
        assert decision == expected
    else:
        assert decision == Keep(document(expected), counts)


def test_cut_lines_are_counted_in_bytes(tmp_path):
    cleaning = Cleaning(steps=(C4Step(kind="c4"),), split=Split(eval_fraction=0.3))
    texts = [f"{FIVE}That was whale number {i}.\nDía" for i in range(20)]
    documents = [document(each, f"{i}") for i, each in enumerate(texts)]
    report = clean(tmp_path, documents, cleaning)
    (row,) = report["funnel"]
    assert row["documents_in"] == row["documents_kept"] == 20
    assert row["bytes_in"] == sum(each.size for each in documents)
    assert row["bytes_in"] - row["bytes_kept"] == 20 * len("\nDía".encode())
    assert report["counts"] == [{"step": "c4", "source": "docs", "name": "lines_without_end", "count": 20}]


def test_language():
    sure = "It was the best of times, it was the worst of times, it was the age of wisdom."
    short = "le chat"
    step = STEPS["language"](LanguageStep(kind="language"))
    assert step.decide(document(sure)) == Keep(document(sure))
    german = "Es war die beste und die schlimmste Zeit, ein Jahrhundert der Weisheit."
    assert step.decide(document(german)) == Drop("other_language")
    language, probability = identify(short)
    for threshold, expected in (
        (probability, Keep(document(short))),
        (math.nextafter(probability, 2), Drop("uncertain_language")),
    ):
        config = LanguageStep(kind="language", languages=(language,), min_probability=threshold)
        assert STEPS["language"](config).decide(document(short)) == expected
    beginning = LanguageStep(kind="language", languages=("de",), max_characters=len(german))
    assert STEPS["language"](beginning).decide(document(german + sure * 9)) == Keep(
        document(german + sure * 9)
    )


def test_the_language_model_answers_as_the_package_does():
    reference = LanguageIdentifier.from_pickled_model(MODEL_FILE, norm_probs=True)
    texts = [
        "",
        "a",
        "le chat",
        "Es war die beste Zeit.",
        "彼は馬鹿だ。",
        "\x00\ud800",
        "привет, мир",
        "1 2 3",
        "ab" * 40_000,
    ]
    texts += ["".join(random.Random(seed).choices("aeinrst äßéяぁ", k=40)) for seed in range(200)]
    for text in texts:
        language, probability = reference.classify(text, datatype="uint32")
        found = identify(text)
        assert found[0] == language
        assert found[1] == pytest.approx(float(probability), rel=1e-6)


BAD = "Darn\nblast it\n\n  fiddle-sticks \n"
BAD_WORDS = [
    ("Oh DARN, he said.", "bad_word"),
    ("He darned his socks.", None),
    ("Blast\nit all.", "bad_word"),
    ("A blast itself.", None),
    ("Oh, fiddle-sticks!", "bad_word"),
    ("Play the fiddle, sticks!", None),
]


@pytest.mark.parametrize(("given", "reason"), BAD_WORDS)
def test_bad_words(tmp_path, given, reason):
    (tmp_path / "en").write_text(BAD)
    step = STEPS["bad_words"](BadWordsStep(kind="bad_words", lists=(WordList(path=f"{tmp_path}/en"),)))
    assert step.decide(document(given)) == (Drop(reason) if reason else Keep(document(given)))


def test_bad_words_of_a_language_and_within_words(tmp_path):
    (tmp_path / "de").write_text("die\n")
    (tmp_path / "ja").write_text("馬鹿\n", encoding="utf-8")
    lists = (
        WordList(path=f"{tmp_path}/de", language="de"),
        WordList(path=f"{tmp_path}/ja", whole_words=False),
    )
    step = STEPS["bad_words"](BadWordsStep(kind="bad_words", lists=lists))
    english = "He did not want to die at sea, and he said so to all of his men."
    assert step.decide(document(english)) == Keep(document(english))
    assert step.decide(document("Es war die beste und die schlimmste Zeit.")) == Drop("bad_word")
    assert step.decide(document("彼は馬鹿だ。")) == Drop("bad_word")


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "unreadable"), (b" \n\n", "has no entry"), (b"darn\n\xff\n", "line 2: invalid_utf8")],
)
def test_lists_that_cannot_be_used(tmp_path, content, message):
    if content is not None:
        (tmp_path / "words").write_bytes(content)
    with pytest.raises(CorpusError, match=message):
        STEPS["bad_words"](BadWordsStep(kind="bad_words", lists=(WordList(path=f"{tmp_path}/words"),)))
