"""The table of the cleaning steps, by their kinds in a recipe."""

from firth.corpus.decontamination.decontaminate import Decontaminate
from firth.corpus.dedup.dataset_duplicates import DatasetDuplicates
from firth.corpus.dedup.exact_duplicates import ExactDuplicates
from firth.corpus.dedup.near_duplicates import NearDuplicates
from firth.corpus.dedup.sentence_duplicates import SentenceDuplicates
from firth.corpus.dedup.substring_duplicates import SubstringDuplicates
from firth.corpus.documents.steps import StepFactory
from firth.corpus.filters.bad_words import BadWords
from firth.corpus.filters.c4 import C4
from firth.corpus.filters.characters import Characters
from firth.corpus.filters.domain_rules import DomainRules
from firth.corpus.filters.fineweb import FineWeb
from firth.corpus.filters.gopher_quality import GopherQuality
from firth.corpus.filters.gopher_repetition import GopherRepetition
from firth.corpus.filters.gutenberg import Gutenberg
from firth.corpus.filters.language import Language
from firth.corpus.filters.length import Length
from firth.corpus.filters.normalize import Normalize
from firth.corpus.filters.url_lists import UrlLists
from firth.corpus.privacy.pii import Pii
from firth.corpus.quality.classifier import Classifier
from firth.corpus.quality.fasttext_model import FastText
from firth.corpus.quality.scikit_learn_model import ScikitLearn

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
    "url_lists": UrlLists,
    "domain_rules": DomainRules,
    "pii": Pii,
    "sentence_duplicates": SentenceDuplicates,
    "substring_duplicates": SubstringDuplicates,
    "exact_duplicates": ExactDuplicates,
    "near_duplicates": NearDuplicates,
    "dataset_duplicates": DatasetDuplicates,
    "decontaminate": Decontaminate,
    "classifier": Classifier,
    "fasttext": FastText,
    "scikit_learn": ScikitLearn,
}
