from .base.errors import RecipeError as RecipeError
from .corpus.benchmarks import (
    CsvBenchmark as CsvBenchmark,
    ExamplesBenchmark as ExamplesBenchmark,
    JsonlBenchmark as JsonlBenchmark,
    TextBenchmark as TextBenchmark,
)
from .corpus.classifiers import (
    ClassifierStep as ClassifierStep,
    FastTextStep as FastTextStep,
    ScikitLearnStep as ScikitLearnStep,
)
from .corpus.cleaning import (
    CharactersStep as CharactersStep,
    Cleaning as Cleaning,
    CorpusLimits as CorpusLimits,
    LengthStep as LengthStep,
    Split as Split,
    StepLimit as StepLimit,
)
from .corpus.domains import (
    DomainCap as DomainCap,
    DomainRule as DomainRule,
    DomainRulesStep as DomainRulesStep,
    EachDomainCap as EachDomainCap,
    UrlList as UrlList,
    UrlListsStep as UrlListsStep,
)
from .corpus.duplicates import (
    DatasetDuplicatesStep as DatasetDuplicatesStep,
    DecontaminateStep as DecontaminateStep,
    ExactDuplicatesStep as ExactDuplicatesStep,
    NearDuplicatesStep as NearDuplicatesStep,
    SentenceDuplicatesStep as SentenceDuplicatesStep,
    SubstringDuplicatesStep as SubstringDuplicatesStep,
    Verification as Verification,
)
from .corpus.filters import (
    BadWordsStep as BadWordsStep,
    C4Step as C4Step,
    FineWebStep as FineWebStep,
    GopherQualityStep as GopherQualityStep,
    GopherRepetitionStep as GopherRepetitionStep,
    GutenbergStep as GutenbergStep,
    LanguageStep as LanguageStep,
    WordList as WordList,
)
from .corpus.mixture import (
    AsIs as AsIs,
    ProportionalMixture as ProportionalMixture,
    WeightedMixture as WeightedMixture,
)
from .corpus.normalization import Normalization as Normalization, NormalizeStep as NormalizeStep
from .corpus.outputs import JsonlOutput as JsonlOutput, ParquetOutput as ParquetOutput
from .corpus.privacy import PiiStep as PiiStep
from .corpus.sources import (
    ArrowSource as ArrowSource,
    CsvSource as CsvSource,
    DocstringsSource as DocstringsSource,
    HtmlSource as HtmlSource,
    JsonlSource as JsonlSource,
    MediawikiSource as MediawikiSource,
    ParquetSource as ParquetSource,
    SourceSample as SourceSample,
    TextSource as TextSource,
    TfrecordSource as TfrecordSource,
    WarcSource as WarcSource,
    WetSource as WetSource,
    WikiextractorSource as WikiextractorSource,
)
from .models.bilstm import BiLSTMConfig as BiLSTMConfig, CharacterCNNConfig as CharacterCNNConfig
from .models.blocks import (
    AttentionConfig as AttentionConfig,
    EmbeddingsConfig as EmbeddingsConfig,
    FeedForwardConfig as FeedForwardConfig,
    LocalAttentionConfig as LocalAttentionConfig,
    NormConfig as NormConfig,
    SharedLayersConfig as SharedLayersConfig,
)
from .models.positions import (
    DisentangledPositionsConfig as DisentangledPositionsConfig,
    LearnedPositionsConfig as LearnedPositionsConfig,
    RelativeBucketsConfig as RelativeBucketsConfig,
    RotaryPositionsConfig as RotaryPositionsConfig,
    RotaryScalingConfig as RotaryScalingConfig,
    SinusoidalPositionsConfig as SinusoidalPositionsConfig,
)
from .models.transformers import (
    CausalTransformerConfig as CausalTransformerConfig,
    EncoderDecoderConfig as EncoderDecoderConfig,
    MaskedTransformerConfig as MaskedTransformerConfig,
)
from .models.two_stream_transformer import TwoStreamTransformerConfig as TwoStreamTransformerConfig
from .objectives.denoising import (
    Denoising as Denoising,
    IidDenoising as IidDenoising,
    SalientSpans as SalientSpans,
    SpanCorruption as SpanCorruption,
)
from .objectives.language_models import (
    BidirectionalLM as BidirectionalLM,
    CausalLM as CausalLM,
    PermutationLM as PermutationLM,
    PrefixLM as PrefixLM,
)
from .objectives.masking import (
    EnhancedMaskDecoder as EnhancedMaskDecoder,
    MaskedLM as MaskedLM,
    ReplacedTokenDetection as ReplacedTokenDetection,
    SpanMasking as SpanMasking,
    UniLM as UniLM,
)
from .reading.families import preset_names as preset_names
from .reading.loading import load_recipe as load_recipe, recipe_to_yaml as recipe_to_yaml
from .run.adapting import AdaptingRecipe as AdaptingRecipe
from .run.recipe import Recipe as Recipe
from .run.run_recipe import RunRecipe as RunRecipe
from .tokenizers.tokenizer import (
    BytePairTokenizerConfig as BytePairTokenizerConfig,
    SentencePieceTokenizerConfig as SentencePieceTokenizerConfig,
    Sequences as Sequences,
    WordPieceTokenizerConfig as WordPieceTokenizerConfig,
    WordTokenizerConfig as WordTokenizerConfig,
)
from .training.evaluation import (
    Evaluation as Evaluation,
    TaskEvaluation as TaskEvaluation,
    Threshold as Threshold,
)
from .training.export import Export as Export
from .training.optimizers import (
    AdafactorConfig as AdafactorConfig,
    AdagradConfig as AdagradConfig,
    AdamWConfig as AdamWConfig,
    ConstantScheduleConfig as ConstantScheduleConfig,
    CosineScheduleConfig as CosineScheduleConfig,
    InverseSquareRootScheduleConfig as InverseSquareRootScheduleConfig,
    LambConfig as LambConfig,
    LinearScheduleConfig as LinearScheduleConfig,
    MuonConfig as MuonConfig,
    WarmupStableDecayScheduleConfig as WarmupStableDecayScheduleConfig,
)
from .training.training import Stage as Stage, Training as Training
