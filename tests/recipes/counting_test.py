"""Counting from types alone; tests/models/build_counting_test.py holds it equal to built models."""

import pytest

from firth.recipes import (
    AttentionConfig,
    BidirectionalLM,
    BiLSTMConfig,
    CausalLM,
    CausalTransformerConfig,
    CharacterCNNConfig,
    DisentangledPositionsConfig,
    EncoderDecoderConfig,
    FeedForwardConfig,
    LearnedPositionsConfig,
    MaskedLM,
    MaskedTransformerConfig,
    PermutationLM,
    PrefixLM,
    Recipe,
    RelativeBucketsConfig,
    ReplacedTokenDetection,
    Sequences,
    SpanMasking,
    TextSource,
    Training,
    TwoStreamTransformerConfig,
    WordPieceTokenizer,
    WordTokenizer,
    load_recipe,
)
from firth.recipes.counting import memory_bytes, parameter_counts, training_flops_per_step
from firth.recipes.training.optimizers import Adafactor, Adagrad, Lamb

BASE = MaskedTransformerConfig()
LARGE = MaskedTransformerConfig(layers=24, width=1024, attention=AttentionConfig(heads=16))
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
        MaskedTransformerConfig(
            layers=2,
            width=4,
            attention=AttentionConfig(heads=2),
            feed_forward=FeedForwardConfig(width=8),
            positions=LearnedPositionsConfig(length=16),
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
        MaskedTransformerConfig(layers=4, width=256, attention=AttentionConfig(heads=4)),
        objective=MaskedLM(next_sentence=False),
        training=Training(batch_size=32, steps=20_000),
    )
    assert training_flops_per_step(mini) == pytest.approx(115e9, rel=0.02)


TINY = {
    "layers": 2,
    "width": 4,
    "attention": AttentionConfig(heads=2),
    "feed_forward": FeedForwardConfig(width=8),
}
# Of a block with them, for each token: queries, keys, values and output 64, feed-forward 64; for each key 8.
DENSE, KEY = 64 + 64, 8


def flops(model, objective, **parts):
    """Multiply-adds of one row, forward: 8 tokens, 20 pieces."""
    shared = {
        "sequences": Sequences(length=8, max_documents=3),
        "training": Training(batch_size=1, steps=20_000),
    }
    tokenizer = {"tokenizer": WordPieceTokenizer(vocabulary_size=20)}
    whole = training_flops_per_step(recipe(model, objective=objective, **{**shared, **tokenizer, **parts}))
    assert whole % 6 == 0
    return whole // 6


def test_flops_of_a_causal_model_with_gate_and_shared_keys():
    llama = {**TINY, "attention": AttentionConfig(heads=2, key_value_heads=1)}
    llama["feed_forward"] = FeedForwardConfig(width=8, gated=True)
    block = 8 * (2 * 4 * 4 + 2 * 4 * 2 + 3 * 4 * 8 + KEY * 8)
    assert flops(CausalTransformerConfig(**llama), CausalLM()) == 2 * block + 8 * 4 * 20


def test_flops_of_an_encoder_and_a_decoder():
    model = EncoderDecoderConfig(**TINY, positions=RelativeBucketsConfig())
    encoder = 8 * (DENSE + 8 * KEY)
    cross = 8 * (32 + 8 * KEY) + 8 * 32
    assert flops(model, PrefixLM(arrangement="encoder_decoder")) == 2 * (2 * encoder + cross) + 8 * 4 * 20


def test_flops_of_disentangled_attention():
    model = MaskedTransformerConfig(**TINY, positions=DisentangledPositionsConfig())
    # Two more scores for each of 16 distances, whose keys and queries a step makes once.
    block = 8 * (DENSE + 8 * KEY + 2 * 16 * 4) + 16 * 4 * 8
    head = 2 * (16 + 80)
    assert flops(model, MaskedLM(next_sentence=False, max_predictions=2)) == 2 * block + head


def test_flops_of_the_span_boundary_objective():
    model = MaskedTransformerConfig(**TINY)
    predictions = 2 * ((16 + 80) + (3 * 16 + 16 + 80))
    assert flops(model, SpanMasking(max_predictions=2)) == 2 * 8 * (DENSE + 8 * KEY) + predictions


def test_flops_of_generator_and_discriminator():
    model = MaskedTransformerConfig(**TINY)
    objective = ReplacedTokenDetection(max_predictions=2, generator_width_fraction=0.5)
    # The generator: tokens of width 4 to 2, one head, feed-forward 4.
    generator = 8 * (4 * 2 + 2 * (4 * 4 + 2 * 2 * 4 + 2 * 2 * 8)) + 2 * (2 * 4 + 80)
    discriminator = 2 * 8 * (DENSE + 8 * KEY) + 8 * (16 + 4)
    assert flops(model, objective) == generator + discriminator


def test_flops_of_two_streams():
    seen = 4 * (8 + 16 + 8)
    content, query = 8 * (DENSE + seen), 3 * (16 + 16 + 64 + seen)
    distances = 16 * 16
    model = TwoStreamTransformerConfig(**TINY)
    assert flops(model, PermutationLM(max_predictions=3)) == 2 * (content + query + distances) + 3 * 80


@pytest.mark.parametrize("negatives, words", [(5, 6), (None, 20)])
def test_flops_of_elmo(negatives, words):
    characters = CharacterCNNConfig(width=2, max_characters=6, filters=((1, 3), (2, 4)), highway_layers=1)
    model = BiLSTMConfig(layers=1, cells=5, projection_width=4, characters=characters)
    word = 6 * 1 * 2 * 3 + 5 * 2 * 2 * 4 + 2 * 7 * 7 + 7 * 4
    lstm = 2 * ((4 + 4) * 4 * 5 + 5 * 4)
    tokenizer = WordTokenizer(vocabulary_size=20, max_characters=6)
    counted = flops(model, BidirectionalLM(negatives=negatives), tokenizer=tokenizer)
    assert counted == 8 * (word + lstm + 2 * 4 * words)


def test_six_flops_for_each_parameter_and_token_of_a_large_model():
    gpt3 = load_recipe("gpt3_175b")
    tokens = gpt3.training.batch_size * gpt3.sequences.length
    rule_of_thumb = 6 * parameter_counts(gpt3)["total"] * tokens
    assert training_flops_per_step(gpt3) == pytest.approx(rule_of_thumb, rel=0.05)


def test_memory_of_weights_and_optimizer_is_exact():
    memory = memory_bytes(recipe(BASE))
    assert memory["weights"] == memory["gradients"] == 4 * 110_106_428
    assert memory["moments"] == 8 * 110_106_428
    assert memory["total"] == sum(value for name, value in memory.items() if name != "total")


@pytest.mark.parametrize("optimizer, kept", [(Lamb(), 2), (Adafactor(), 1), (Adagrad(), 1)])
def test_optimizers_keep_different_numbers_of_each_weight(optimizer, kept):
    memory = memory_bytes(recipe(BASE, training=Training(optimizer=optimizer)))
    assert memory["moments"] == kept * memory["weights"]


def test_activations_grow_with_the_batch_and_shrink_with_the_precision():
    one, two = (memory_bytes(recipe(BASE, training=Training(batch_size=size))) for size in (1, 2))
    assert two["activations"] == 2 * one["activations"]
    half = memory_bytes(recipe(BASE, training=Training(batch_size=1, precision="mixed_bfloat16")))
    logits = 2 * 4 * 20 * 30_522
    assert half["activations"] - logits == (one["activations"] - logits) // 2
