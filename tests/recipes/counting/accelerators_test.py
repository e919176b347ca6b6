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
    RelativeBucketsConfig,
    ReplacedTokenDetection,
    Sequences,
    SpanMasking,
    Training,
    TwoStreamTransformerConfig,
    WordPieceTokenizerConfig,
    WordTokenizerConfig,
    load_recipe,
)
from firth.recipes.counting import parameter_counts, training_flops_per_step
from tests.recipes.counting.counted import recipe


def test_flops_by_hand():
    tiny = recipe(
        MaskedTransformerConfig(
            layers=2,
            width=4,
            attention=AttentionConfig(heads=2),
            feed_forward=FeedForwardConfig(width=8),
            positions=LearnedPositionsConfig(length=16),
        ),
        tokenizer=WordPieceTokenizerConfig(vocabulary_size=20),
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
# A block with them has, for each token: queries, keys, values and output 64, feed-forward 64; for each key 8.
DENSE, KEY = 64 + 64, 8


def flops(model, objective, **parts):
    """Multiply-adds of one row, forward: 8 tokens, 20 pieces."""
    shared = {
        "sequences": Sequences(length=8, max_documents=3),
        "training": Training(batch_size=1, steps=20_000),
    }
    tokenizer = {"tokenizer": WordPieceTokenizerConfig(vocabulary_size=20)}
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
    assert flops(model, PrefixLM(architecture="encoder_decoder")) == 2 * (2 * encoder + cross) + 8 * 4 * 20


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
    tokenizer = WordTokenizerConfig(vocabulary_size=20, max_characters=6)
    counted = flops(model, BidirectionalLM(negatives=negatives), tokenizer=tokenizer)
    assert counted == 8 * (word + lstm + 2 * 4 * words)


def test_six_flops_for_each_parameter_and_token_of_a_large_model():
    gpt3 = load_recipe("gpt3_175b")
    tokens = gpt3.training.batch_size * gpt3.sequences.length
    rule_of_thumb = 6 * parameter_counts(gpt3)["total"] * tokens
    assert training_flops_per_step(gpt3) == pytest.approx(rule_of_thumb, rel=0.05)
