"""Names, dates and numbers by rule, and that one of them is hidden."""

import numpy as np
import pytest

from firth.objectives import OBJECTIVES
from firth.objectives.salient_spans import SalienceRules
from firth.objectives.transforms.documents import ordinary_table, read_text
from firth.recipes.objectives.denoising import SalientSpans
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tokenizers import WordPieceTokenizer
from tests.objectives.rows import SPECIALS, make_batch
from tests.objectives.words import documents, spoken, word_row, word_tokenizer

TEXTS = (
    "The poet Byron was the father of Ada Lovelace , born on 10 December 1815 .",
    '" It rained , | I think . | May it end in May ! | 7 men saw A cat . | March came .',
    "nothing here , nothing there .",
)


def salient_words(text, tokenizer=None):
    tokenizer = tokenizer or word_tokenizer(text.replace("|", " "))
    row = word_row(tokenizer, [text], 40, 2)
    flags = SalienceRules(tokenizer)(row, read_text(row, ordinary_table(tokenizer))).numpy()
    return spoken(tokenizer, row["tokens"][flags])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXTS[0], "Byron Ada Lovelace 10 December 1815"),
        # Neither `It` after a quote nor `I`, `A` and `May` at the beginning; a month begins a sentence.
        (TEXTS[1], "May 7 March"),
        (TEXTS[2], ""),
    ],
)
def test_the_rules(text, expected):
    assert salient_words(text) == expected


def test_words_of_several_pieces_are_taken_whole():
    pieces = ("Ka", "##fka", "Dec", "##ember", "##ement", "19", "##24", "##th")
    tokenizer = word_tokenizer("he met .", pieces=pieces)
    found = salient_words("he met Kafka . | December 1924 . | Decement 19th .", tokenizer)
    assert found == "Ka ##fka Dec ##ember 19 ##24"


def test_a_tokenizer_that_lower_cases_is_refused():
    with pytest.raises(ValueError, match="lower-cases"):
        SalienceRules(WordPieceTokenizer([*SPECIALS, "a"]))


def over_seeds(config, texts, count=300):
    tokenizer = word_tokenizer(" ".join(texts).replace("|", " "))
    objective = OBJECTIVES["salient_spans"](config, Sequences(length=64, max_documents=3), tokenizer)
    one = word_row(tokenizer, texts, objective.raw_length, 3)
    rows = {name: np.stack([value] * count) for name, value in one.items()}
    seeds = np.stack([np.full(count, 5), np.arange(count)], axis=1)
    return tokenizer, make_batch(objective, rows, {name: 0 * value for name, value in rows.items()}, seeds)


def test_one_salient_span_of_each_document_is_hidden_each_as_likely():
    tokenizer, made = over_seeds(SalientSpans(), TEXTS[:2])
    targets = [documents(tokenizer, *pair) for pair in zip(made["label_ids"], made["decoder_document_ids"])]
    first, counts = np.unique([each[0] for each in targets], return_counts=True)
    assert first.tolist() == ["<0> 10 December 1815 [SEP]", "<0> Ada Lovelace [SEP]", "<0> Byron [SEP]"]
    np.testing.assert_allclose(counts, 100, atol=4.5 * np.sqrt(300 * 2 / 9))
    assert {each[1] for each in targets} == {f"<0> {word} [SEP]" for word in ("May", "7", "March")}
    for name in ("token_ids", "document_ids"):
        made[name] = made[name][:1]
    shown = documents(tokenizer, made["token_ids"][0], made["document_ids"][0])
    hidden = targets[0][0].removeprefix("<0> ").removesuffix(" [SEP]")
    assert shown[0] == TEXTS[0].replace(hidden, "<0>") + " [SEP]"


def test_a_long_span_is_hidden_in_part():
    tokenizer, made = over_seeds(SalientSpans(max_span=2), TEXTS[:1])
    targets = {spoken(tokenizer, ids) for ids in made["label_ids"]}
    assert targets == {"<0> 10 December [SEP]", "<0> Ada Lovelace [SEP]", "<0> Byron [SEP]"}


def test_a_document_without_any_is_corrupted_at_random_or_has_no_weight():
    _, made = over_seeds(SalientSpans(noise_density=0.4), TEXTS[2:])
    assert len(np.unique(made["token_ids"], axis=0)) > 3
    assert (made["label_weights"].sum(axis=1) == 2 + 1 + 1).all()  # Two tokens of six, in one span.
    tokenizer, made = over_seeds(SalientSpans(fallback=False), TEXTS[2:], 3)
    assert not made["label_weights"].any() and not made["label_ids"].any()
    assert spoken(tokenizer, made["token_ids"][0]) == TEXTS[2] + " [SEP]"
