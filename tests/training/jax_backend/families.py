"""Runs of the tiny presets of all families, on rows that are made up."""

import os

from firth import features
from firth.recipes import load_recipe
from firth.recipes.run.recipe import Recipe
from firth.tokenizers import WordPieceTokenizer, WordTokenizer, save_tokenizer
from firth.tokenizers.graph.vocabulary import sentinel_pieces
from tests.training.artifacts import VOCABULARY, raw_row, write_rows

# The table of tokens has more rows than the tokenizer has pieces.
LENGTH, BATCH, STEPS, CHARACTERS, ROWS = 32, 4, 50, 50, 300
PIECES = [*VOCABULARY, *sentinel_pieces(20)]
WORDS = ["<S>", "</S>", "<UNK>", *(f"w{index}" for index in range(60))]
# What follows from the length, by preset.
LENGTHS = {
    "deberta_v3_tiny": (f"objective.mask_decoder.length={LENGTH}",),
    "elmo_tiny": ("objective.negatives=24", f"tokenizer.max_characters={CHARACTERS}"),
    "modernbert_tiny": ("objective.max_predictions=12",),
}
# Lower than the preset's, at which rounding errors grow tenfold in a few steps, by preset.
RATES = {
    "deberta_v3_tiny": 5e-4,
    "elmo_tiny": 0.02,
    "prefix_lm_tiny": 5e-4,
    "t5_tiny": 3e-3,
    "t5_1_1_tiny": 3e-3,
}
FAMILIES = (
    "albert_tiny",
    "bart_tiny",
    "bert_tiny",
    "deberta_v3_tiny",
    "electra_tiny",
    "elmo_tiny",
    "gpt2_tiny",
    "gpt3_tiny",
    "gpt_1_tiny",
    "llama_tiny",
    "modernbert_tiny",
    "prefix_lm_tiny",
    "qwen_3_tiny",
    "roberta_tiny",
    "spanbert_tiny",
    "t5_tiny",
    "t5_1_1_tiny",
    "unilm_tiny",
    "xlnet_tiny",
)


def family_recipe(preset: str, *overrides: str) -> Recipe:
    """A preset with a small vocabulary, on short rows, with dropout."""
    settings = [
        f"tokenizer.vocabulary_size={ROWS}",
        f"sequences.length={LENGTH}",
        "sequences.max_documents=2",
        "model.dropout=0.1",
        f"training.steps={STEPS}",
        f"training.batch_size={BATCH}",
        "training.optimizer.warmup_steps=5",
        "training.log_every_steps=1",
    ]
    if preset in RATES:
        settings.append(f"training.optimizer.learning_rate={RATES[preset]}")
    return load_recipe(preset, [*settings, *LENGTHS.get(preset, ()), *overrides])


def write_family_artifact(directory, recipe: Recipe, count: int = 40) -> None:
    """Writes a whole artifact of rows: tokenizer, training split and eval split."""
    folder = os.path.join(directory, "tokenizer")
    if recipe.tokenizer.max_characters:
        save_tokenizer(WordTokenizer(WORDS, max_characters=recipe.tokenizer.max_characters), folder)
    else:
        save_tokenizer(WordPieceTokenizer(PIECES), folder)
    for split, indices in (("train", range(count)), ("eval", range(100, 108))):
        rows = [raw_row(index) for index in indices]
        if recipe.tokenizer.max_characters:
            rows = [
                {**row, features.WORDS: [WORDS[each].encode() for each in row[features.RAW_TOKENS]]}
                for row in rows
            ]
        write_rows(os.path.join(directory, f"Split-{split}", "data-00000.gz"), rows)


def with_words(row: dict) -> dict:
    """The row with the words that its tokens stand for."""
    return {**row, features.WORDS: [WORDS[each].encode() for each in row[features.RAW_TOKENS]]}
