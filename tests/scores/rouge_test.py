import pytest

from firth.scores.rouge import VARIANTS, rouge, rouge_of, sentence_lines


def f(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall)


def test_the_example_of_the_paper():
    """Lin (2004), section 3.1: ROUGE-L tells the word orders apart that ROUGE-2 cannot."""
    right = "police killed the gunman"
    assert rouge_of("rouge_l", right, "police kill the gunman") == pytest.approx(3 / 4)
    assert rouge_of("rouge_l", right, "the gunman kill police") == pytest.approx(2 / 4)
    assert rouge_of("rouge_2", right, "police kill the gunman") == pytest.approx(1 / 3)
    assert rouge_of("rouge_2", right, "the gunman kill police") == pytest.approx(1 / 3)


def test_the_summary_level_example_of_the_paper():
    """Lin (2004), section 3.2: the union of the common subsequences has four of five words."""
    right, predicted = "w1 w2 w3 w4 w5", "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5"
    assert rouge_of("rouge_lsum", right, predicted) == pytest.approx(f(4 / 10, 4 / 5))


def test_lsum_is_split_by_us_where_no_lines_are():
    right = "The dog ran. The cat sat."
    swapped = "The cat sat. The dog ran."
    assert rouge_of("rouge_lsum", right, swapped) == 1.0
    assert rouge_of("rouge_l", right, swapped) == pytest.approx(1 / 2)
    assert rouge_of("rouge_lsum", right.replace(". ", ".\n"), swapped) == 1.0


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("One. Two! Three?", 3),
        ("It cost 3.5 dollars. Really.", 2),
        ("At 5 p.m. today.", 1),
        ('He said "No." Then he left.', 2),
        ("A tokenized text . Another one .", 2),
        ("one line. Two\nkeeps its lines. Two", 2),
        ("One. Two.\n", 2),
        ("", 1),
    ],
)
def test_sentences(text, lines):
    assert len(sentence_lines(text).strip().split("\n")) == lines
    assert sentence_lines(text).split() == text.split()


def test_the_stemmer_is_an_option():
    assert rouge_of("rouge_1", "running dogs", "run dog") == 0.0
    assert rouge_of("rouge_1", "running dogs", "run dog", stemmer=True) == 1.0


def test_sets_and_several_references():
    assert rouge("rouge_1", ["a b", ["x y", "c d"]], ["a b", "c z"]) == pytest.approx(0.75)
    with pytest.raises(ValueError, match="summary"):
        rouge("rouge_1", [[]], ["a"])


@pytest.mark.parametrize("variant", VARIANTS)
def test_nothing_in_common_and_nothing_at_all(variant):
    assert (
        rouge_of(variant, "a b c", "x y z") == rouge_of(variant, "a b", "") == rouge_of(variant, "", "") == 0
    )
