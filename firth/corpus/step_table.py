"""The cleaning steps there are, by their kind in a recipe."""

from firth.corpus.characters import Characters
from firth.corpus.exact_duplicates import ExactDuplicates
from firth.corpus.length import Length
from firth.corpus.normalize import Normalize
from firth.corpus.steps import StepFactory

STEPS: dict[str, StepFactory] = {
    "normalize": Normalize,
    "length": Length,
    "characters": Characters,
    "exact_duplicates": ExactDuplicates,
}
