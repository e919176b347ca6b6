"""Recipes: the language of a run. Importing this loads neither TensorFlow nor TFX."""

from firth.recipes.base.errors import RecipeError
from firth.recipes.corpus.benchmarks import CsvBenchmark, ExamplesBenchmark, JsonlBenchmark, TextBenchmark
from firth.recipes.corpus.classifier import ClassifierStep
from firth.recipes.corpus.cleaning import (
    CharactersStep,
    Cleaning,
    LengthStep,
    Split,
)
from firth.recipes.corpus.duplicates import (
    DatasetDuplicatesStep,
    DecontaminateStep,
    ExactDuplicatesStep,
    NearDuplicatesStep,
    SentenceDuplicatesStep,
)
from firth.recipes.corpus.filters import (
    BadWordsStep,
    C4Step,
    FineWebStep,
    GopherQualityStep,
    GopherRepetitionStep,
    LanguageStep,
    WordList,
)
from firth.recipes.corpus.gutenberg import GutenbergStep
from firth.recipes.corpus.limits import CorpusLimits, StepLimit
from firth.recipes.corpus.mixture import AsIs, ProportionalMixture, WeightedMixture
from firth.recipes.corpus.normalization import Normalization, NormalizeStep
from firth.recipes.corpus.privacy import PiiStep
from firth.recipes.corpus.sources import (
    DocstringsSource,
    HtmlSource,
    JsonlSource,
    ParquetSource,
    TextSource,
    TfrecordSource,
    WarcSource,
    WetSource,
    WikiextractorSource,
)
from firth.recipes.models.blocks import (
    AttentionConfig,
    EmbeddingsConfig,
    FeedForwardConfig,
    NormConfig,
    SharedLayersConfig,
)
from firth.recipes.models.model import (
    BiLSTMConfig,
    CausalTransformerConfig,
    CharacterCNNConfig,
    EncoderDecoderConfig,
    MaskedTransformerConfig,
    TwoStreamTransformerConfig,
)
from firth.recipes.models.positions import (
    DisentangledPositionsConfig,
    LearnedPositionsConfig,
    RelativeBucketsConfig,
    RotaryPositionsConfig,
    RotaryScalingConfig,
    SinusoidalPositionsConfig,
)
from firth.recipes.objectives.denoising import Denoising, IidDenoising, SalientSpans, SpanCorruption
from firth.recipes.objectives.language_models import BidirectionalLM, CausalLM, PrefixLM
from firth.recipes.objectives.masking import (
    EnhancedMaskDecoder,
    MaskedLM,
    ReplacedTokenDetection,
    SpanMasking,
    UniLM,
)
from firth.recipes.objectives.permutation import PermutationLM
from firth.recipes.reading.loading import load_recipe, recipe_to_yaml
from firth.recipes.reading.presets import preset_names
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.run.recipe import Recipe
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.tokenizers.tokenizer import (
    BytePairTokenizerConfig,
    SentencePieceTokenizerConfig,
    Sequences,
    WordPieceTokenizerConfig,
    WordTokenizerConfig,
)
from firth.recipes.training.evaluation import Evaluation, Threshold
from firth.recipes.training.export import Export
from firth.recipes.training.optimizers import AdafactorConfig, AdagradConfig, AdamWConfig, LambConfig
from firth.recipes.training.schedules import (
    ConstantScheduleConfig,
    CosineScheduleConfig,
    InverseSquareRootScheduleConfig,
    LinearScheduleConfig,
    WarmupStableDecayScheduleConfig,
)
from firth.recipes.training.training import Stage, Training

__all__ = [
    "AdafactorConfig",
    "AdagradConfig",
    "AdamWConfig",
    "AdaptingRecipe",
    "AsIs",
    "AttentionConfig",
    "BadWordsStep",
    "BiLSTMConfig",
    "BidirectionalLM",
    "BytePairTokenizerConfig",
    "C4Step",
    "CausalLM",
    "CausalTransformerConfig",
    "CharacterCNNConfig",
    "CharactersStep",
    "ClassifierStep",
    "Cleaning",
    "ConstantScheduleConfig",
    "CorpusLimits",
    "CosineScheduleConfig",
    "CsvBenchmark",
    "DatasetDuplicatesStep",
    "DecontaminateStep",
    "Denoising",
    "DisentangledPositionsConfig",
    "DocstringsSource",
    "EmbeddingsConfig",
    "EncoderDecoderConfig",
    "EnhancedMaskDecoder",
    "Evaluation",
    "ExactDuplicatesStep",
    "ExamplesBenchmark",
    "Export",
    "FeedForwardConfig",
    "FineWebStep",
    "GopherQualityStep",
    "GopherRepetitionStep",
    "GutenbergStep",
    "HtmlSource",
    "IidDenoising",
    "InverseSquareRootScheduleConfig",
    "JsonlBenchmark",
    "JsonlSource",
    "LambConfig",
    "LanguageStep",
    "LearnedPositionsConfig",
    "LengthStep",
    "LinearScheduleConfig",
    "MaskedLM",
    "MaskedTransformerConfig",
    "NearDuplicatesStep",
    "NormConfig",
    "Normalization",
    "NormalizeStep",
    "ParquetSource",
    "PermutationLM",
    "PiiStep",
    "PrefixLM",
    "ProportionalMixture",
    "Recipe",
    "RecipeError",
    "RelativeBucketsConfig",
    "ReplacedTokenDetection",
    "RotaryPositionsConfig",
    "RotaryScalingConfig",
    "RunRecipe",
    "SalientSpans",
    "SentenceDuplicatesStep",
    "SentencePieceTokenizerConfig",
    "Sequences",
    "SharedLayersConfig",
    "SinusoidalPositionsConfig",
    "SpanCorruption",
    "SpanMasking",
    "Split",
    "Stage",
    "StepLimit",
    "TextBenchmark",
    "TextSource",
    "TfrecordSource",
    "Threshold",
    "Training",
    "TwoStreamTransformerConfig",
    "UniLM",
    "WarcSource",
    "WarmupStableDecayScheduleConfig",
    "WeightedMixture",
    "WetSource",
    "WikiextractorSource",
    "WordList",
    "WordPieceTokenizerConfig",
    "WordTokenizerConfig",
    "load_recipe",
    "preset_names",
    "recipe_to_yaml",
]
