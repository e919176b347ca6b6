"""The cleaning steps there are, by their kind in a recipe."""

from firth.corpus.bad_words import BadWords
from firth.corpus.c4 import C4
from firth.corpus.characters import Characters
from firth.corpus.classifier import Classifier
from firth.corpus.dataset_duplicates import DatasetDuplicates
from firth.corpus.decontaminate import Decontaminate
from firth.corpus.exact_duplicates import ExactDuplicates
from firth.corpus.fineweb import FineWeb
from firth.corpus.gopher_quality import GopherQuality
from firth.corpus.gopher_repetition import GopherRepetition
from firth.corpus.gutenberg import Gutenberg
from firth.corpus.language import Language
from firth.corpus.length import Length
from firth.corpus.near_duplicates import NearDuplicates
from firth.corpus.normalize import Normalize
from firth.corpus.pii import Pii
from firth.corpus.sentence_duplicates import SentenceDuplicates
from firth.corpus.steps import StepFactory

STEPS: dict[str, StepFactory] = {
    "normalize": Normalize,
    "length": Length,
    "characters": Characters,
    "gutenberg": Gutenberg,
    "c4": C4,
    "gopher_quality": GopherQuality,
    "gopher_repetition": GopherRepetition,
    "fineweb": FineWeb,
    "language": Language,
    "bad_words": BadWords,
    "pii": Pii,
    "sentence_duplicates": SentenceDuplicates,
    "exact_duplicates": ExactDuplicates,
    "near_duplicates": NearDuplicates,
    "dataset_duplicates": DatasetDuplicates,
    "decontaminate": Decontaminate,
    "classifier": Classifier,
}
