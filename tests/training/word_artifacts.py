"""A tiny ELMo, and an artifact of SequenceGen of words that some letters spell."""

import os

from firth import features
from firth.recipes.models.bilstm import BiLSTMConfig, CharacterCNNConfig
from firth.recipes.objectives.language_models import BidirectionalLM
from firth.recipes.run.recipe import Recipe
from firth.recipes.tokenizers.tokenizer import Sequences, WordTokenizerConfig
from firth.recipes.training.optimizers import AdagradConfig
from firth.recipes.training.training import Training
from firth.tokenizers import WordTokenizer, save_tokenizer
from tests.training.artifacts import DOCUMENTS, PIECES, raw_row, tiny_recipe, write_rows

LENGTH, CHARACTERS = 24, 6
VOCABULARY = ["<S>", "</S>", "<UNK>", *(f"w{index}" for index in range(PIECES + 2))]


def tiny_elmo(**training) -> Recipe:
    """One LSTM of 8 cells in each direction, against 12 of 45 words."""
    characters = CharacterCNNConfig(
        width=4, max_characters=CHARACTERS, filters=((1, 4), (2, 4)), highway_layers=1
    )
    optimizer = AdagradConfig(learning_rate=0.2, gradient_clip_norm=training.pop("clip", 10.0))
    parts = {
        "tokenizer": WordTokenizerConfig(vocabulary_size=len(VOCABULARY), max_characters=CHARACTERS),
        "sequences": Sequences(length=LENGTH, max_documents=DOCUMENTS),
        "objective": BidirectionalLM(negatives=12),
        "model": BiLSTMConfig(layers=1, cells=8, projection_width=6, characters=characters),
        "training": Training(optimizer=optimizer, **{"batch_size": 4, "log_every_steps": 1, **training}),
    }
    return tiny_recipe().model_copy(update=parts)


def word_tokenizer() -> WordTokenizer:
    """The tokenizer of its words."""
    return WordTokenizer(VOCABULARY, max_characters=CHARACTERS)


def word_row(index: int) -> dict:
    """A row of two chunks, as it is stored."""
    row = raw_row(index)
    words = [VOCABULARY[token].encode() for token in row[features.RAW_TOKENS]]
    return {**row, features.WORDS: words, features.WORD_STARTS: [1] * len(words)}


def write_word_artifact(directory) -> None:
    """Writes a whole artifact: tokenizer, training split and eval split."""
    save_tokenizer(word_tokenizer(), os.path.join(directory, "tokenizer"))
    for split, indices in (("train", range(30)), ("eval", range(100, 108))):
        path = os.path.join(directory, f"Split-{split}", "data-00000.gz")
        write_rows(path, [word_row(index) for index in indices])
