import pytest

from firth.recipes import (
    MaskedLM,
)
from firth.recipes.counting import parameter_counts
from tests.recipes.counting.counted import BASE, LARGE, recipe


@pytest.mark.parametrize("model, published", [(BASE, 109_482_240), (LARGE, 335_141_888)])
def test_published_parameter_counts(model, published):
    assert parameter_counts(recipe(model))["total"] == published


def test_parts_of_bert_base():
    counts = parameter_counts(recipe(BASE))
    assert counts["embeddings"] == 23_837_184
    assert counts["encoder"] == 12 * 7_087_872
    assert counts["pooler"] == 590_592
    assert counts["masked_lm_head"] == 590_592 + 1_536 + 30_522
    assert counts["next_sentence_head"] == 1_538
    assert counts["total_with_heads"] == counts["total"] + 622_650 + 1_538


def test_without_next_sentences_neither_pooler_nor_its_head_is_trained():
    counts = parameter_counts(recipe(BASE, objective=MaskedLM(next_sentence=False)))
    assert counts["total"] == 109_482_240
    assert counts["total_with_heads"] == counts["total"] - 590_592 + 622_650
