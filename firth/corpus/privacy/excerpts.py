"""Excerpts of documents that a report may show, which have no personal data."""

from firth.corpus.documents.corpus_counts import DroppedExample
from firth.corpus.privacy.pii import Pii
from firth.recipes.corpus.cleaning import Cleaning
from firth.recipes.corpus.privacy import PiiStep

EXCERPT_CHARACTERS = 300
# A value that is cut is not recognised. The longest one that is found is a token of 16,000 characters.
RAW_EXCERPT_CHARACTERS = EXCERPT_CHARACTERS + 2**14


def privacy_of(cleaning: Cleaning) -> PiiStep:
    """Returns a step that replaces all types of personal data, also those that the recipe's steps find.

    It searches phone numbers of all regions and all addresses that any of these steps searches.

    Args:
        cleaning: The cleaning of the recipe.
    """
    own = (step.privacy for step in cleaning.steps)
    steps = [PiiStep(kind="pii"), *(step for step in own if step is not None)]
    regions = dict.fromkeys(region for step in steps for region in step.phone_regions)
    return PiiStep(
        kind="pii",
        phone_regions=tuple(regions),
        private_addresses=any(step.private_addresses for step in steps),
        min_secret_entropy=min(step.min_secret_entropy for step in steps),
    )


def scrubber_for(cleaning: Cleaning) -> Pii:
    """Returns the step that removes all personal data from excerpts of a corpus.

    Args:
        cleaning: The cleaning of the recipe, whose `pii` steps may name further regions of phone numbers.
    """
    return Pii(privacy_of(cleaning))


def fit_to_show(example: DroppedExample, scrubber: Pii) -> DroppedExample:
    """Returns an example without personal data, whose excerpt has about `EXCERPT_CHARACTERS`.

    Args:
        example: A dropped document with the first `RAW_EXCERPT_CHARACTERS` of its text.
        scrubber: The step that removes personal data.

    Example:

    >>> example = DroppedExample("1a", "web", "x.org/?of=jane@roe.org", "Write to jane@roe.org.")
    >>> shown = fit_to_show(example, scrubber_for(Cleaning()))
    >>> shown.uri, shown.excerpt
    ('x.org/?of=<EMAIL>', 'Write to <EMAIL>.')
    """
    excerpt = scrubber.scrub_beginning(example.excerpt, EXCERPT_CHARACTERS)
    return example._replace(uri=scrubber.scrub(example.uri), excerpt=excerpt)
