"""Counting from types alone; tests/models/counting_test.py holds it equal to built models."""

import pytest

from firth.recipes.blocks import Attention, FeedForward, LearnedPositions
from firth.recipes.counting import memory_bytes, parameter_counts, training_flops_per_step
from firth.recipes.model import MaskedTransformer
from firth.recipes.objective import MaskedLM
from firth.recipes.recipe import Recipe
from firth.recipes.sources import TextSource
from firth.recipes.tokenizer import Sequences, WordPieceTokenizer
from firth.recipes.training import Training

BASE = MaskedTransformer()
LARGE = MaskedTransformer(layers=24, width=1024, attention=Attention(heads=16))
SOURCES = (TextSource(kind="text", paths=("*.txt",)),)


def recipe(model, **parts) -> Recipe:
    return Recipe(name="counted", sources=SOURCES, model=model, **parts)


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


def test_flops_by_hand():
    tiny = recipe(
        MaskedTransformer(
            layers=2,
            width=4,
            attention=Attention(heads=2),
            feed_forward=FeedForward(width=8),
            positions=LearnedPositions(length=16),
        ),
        tokenizer=WordPieceTokenizer(vocabulary_size=20),
        sequences=Sequences(length=8, max_documents=3),
        objective=MaskedLM(max_predictions=2),
        training=Training(batch_size=5, steps=20_000),
    )
    # Multiply-adds of one row, forward. A token and block: queries, keys, values 48, scores 32, context 32,
    # output 16, feed-forward 64. A prediction: 16 + 80. A pair: 16 + 8.
    row = 8 * 2 * (48 + 32 + 32 + 16 + 64) + 2 * (16 + 80) + 3 * (16 + 8)
    assert training_flops_per_step(tiny) == 3 * 2 * 5 * row


def test_flops_of_the_step_that_the_benchmark_measures():
    mini = recipe(
        MaskedTransformer(layers=4, width=256, attention=Attention(heads=4)),
        objective=MaskedLM(next_sentence=False),
        training=Training(batch_size=32, steps=20_000),
    )
    assert training_flops_per_step(mini) == pytest.approx(115e9, rel=0.02)


def test_memory_of_weights_and_optimizer_is_exact():
    memory = memory_bytes(recipe(BASE))
    assert memory["weights"] == memory["gradients"] == 4 * 110_106_428
    assert memory["moments"] == 8 * 110_106_428
    assert memory["total"] == sum(value for name, value in memory.items() if name != "total")


def test_activations_grow_with_the_batch_and_shrink_with_the_precision():
    one, two = (memory_bytes(recipe(BASE, training=Training(batch_size=size))) for size in (1, 2))
    assert two["activations"] == 2 * one["activations"]
    half = memory_bytes(recipe(BASE, training=Training(batch_size=1, precision="mixed_bfloat16")))
    logits = 2 * 4 * 20 * 30_522
    assert half["activations"] - logits == (one["activations"] - logits) // 2
