"""Recipes: the language of a run. Importing this loads neither TensorFlow nor TFX."""

from firth.recipes.blocks import (
    Attention,
    DisentangledPositions,
    Embeddings,
    FeedForward,
    LearnedPositions,
    Norm,
    RelativeBuckets,
    RotaryPositions,
    RotaryScaling,
    SinusoidalPositions,
)
from firth.recipes.cleaning import (
    CharactersStep,
    Cleaning,
    ExactDuplicatesStep,
    LengthStep,
    NormalizeStep,
    Split,
)
from firth.recipes.denoising import Denoising, IidDenoising, SalientSpans, SpanCorruption
from firth.recipes.errors import RecipeError
from firth.recipes.evaluation import Evaluation, Threshold
from firth.recipes.export import Export
from firth.recipes.language_models import BidirectionalLM, CausalLM, PrefixLM
from firth.recipes.loading import load_recipe, preset_names, recipe_to_yaml
from firth.recipes.masking import (
    MaskedLM,
    PermutationLM,
    ReplacedTokenDetection,
    SpanMasking,
    UniLM,
)
from firth.recipes.model import (
    BiLSTM,
    CausalTransformer,
    CharacterCNN,
    EncoderDecoder,
    MaskedTransformer,
    TwoStreamTransformer,
)
from firth.recipes.recipe import Recipe
from firth.recipes.sources import DocstringsSource, JsonlSource, TextSource
from firth.recipes.tokenizer import Sequences, WordPieceTokenizer, WordTokenizer
from firth.recipes.training import AdamW, Training

__all__ = [
    "AdamW",
    "Attention",
    "BiLSTM",
    "BidirectionalLM",
    "CausalLM",
    "CausalTransformer",
    "CharacterCNN",
    "CharactersStep",
    "Cleaning",
    "Denoising",
    "DisentangledPositions",
    "DocstringsSource",
    "Embeddings",
    "EncoderDecoder",
    "Evaluation",
    "ExactDuplicatesStep",
    "Export",
    "FeedForward",
    "IidDenoising",
    "JsonlSource",
    "LearnedPositions",
    "LengthStep",
    "MaskedLM",
    "MaskedTransformer",
    "Norm",
    "NormalizeStep",
    "PermutationLM",
    "PrefixLM",
    "Recipe",
    "RecipeError",
    "RelativeBuckets",
    "ReplacedTokenDetection",
    "RotaryPositions",
    "RotaryScaling",
    "SalientSpans",
    "Sequences",
    "SinusoidalPositions",
    "SpanCorruption",
    "SpanMasking",
    "Split",
    "TextSource",
    "Threshold",
    "Training",
    "TwoStreamTransformer",
    "UniLM",
    "WordPieceTokenizer",
    "WordTokenizer",
    "load_recipe",
    "preset_names",
    "recipe_to_yaml",
]
