"""Removal of personal data from excerpts and metadata of documents, for reports and artifacts."""

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from firth.corpus.documents.corpus_counts import DroppedExample
from firth.corpus.documents.document import OWN_ID, Document
from firth.corpus.privacy.pii import Pii
from firth.recipes.corpus.cleaning import Cleaning
from firth.recipes.corpus.privacy import PiiStep

EXCERPT_CHARACTERS = 300
# A value that is cut is not recognised. The longest one that is found is a token of 16,000 characters.
RAW_EXCERPT_CHARACTERS = EXCERPT_CHARACTERS + 2**14


def privacy_of(cleaning: Cleaning) -> PiiStep:
    """Returns a step that replaces all types of personal data, also those that the recipe's steps find.

    It searches phone numbers of all regions and all addresses that any of these steps searches.
    """
    own = (step.privacy for step in cleaning.steps)
    steps = [PiiStep(kind="pii"), *(step for step in own if step is not None)]
    regions = dict.fromkeys(region for step in steps for region in step.phone_regions)
    return PiiStep(
        kind="pii",
        phone_regions=tuple(regions),
        private_addresses=any(step.private_addresses for step in steps),
        metadata="keep" if any(step.metadata == "keep" for step in steps) else "scrub",
        min_secret_entropy=min(step.min_secret_entropy for step in steps),
    )


def scrubber_for(cleaning: Cleaning) -> Pii:
    """Returns the step that removes all personal data from excerpts of a corpus."""
    return Pii(privacy_of(cleaning))


class MetadataScrubber:
    """Removes personal data from the addresses, licences and metadata of documents.

    Example:

    >>> scrubber = MetadataScrubber([PiiStep(kind="pii")])
    >>> scrubber.scrub(Document("1a", "Hi.", "web", "CC0, jane@roe.org", "http://x.org/a?b=jane@roe.org"))
    Document(id='1a', text='Hi.', source='web', licence='CC0, <EMAIL>', uri='http://x.org/a?b=<EMAIL>')
    """

    def __init__(self, steps: Sequence[PiiStep]) -> None:
        self._steps = [Pii(step) for step in steps]
        # Most documents of a source have the same licence.
        self._licences: dict[str, str] = {}

    def scrub(self, document: Document) -> Document:
        """Returns the document without personal data in its address, its licence and its metadata."""
        if not self._steps:
            return document
        licence = document.licence
        if licence not in self._licences:
            self._licences[licence] = self._text(licence)
        metadata = document.metadata and json.dumps(
            self._value(json.loads(document.metadata)), ensure_ascii=False
        )
        return dataclasses.replace(
            document, uri=self._text(document.uri), licence=self._licences[licence], metadata=metadata
        )

    def _value(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._value(each) for name, each in value.items()}
        if isinstance(value, list):
            return list(map(self._value, value))
        # Ids of documents are hashes, whose digits may look like a number of a person.
        is_text = isinstance(value, str) and not OWN_ID.fullmatch(value)
        return self._text(value) if is_text else value

    def _text(self, text: str) -> str:
        for step in self._steps:
            text = step.scrub_address(text)
        return text


def metadata_steps(cleaning: Cleaning) -> list[PiiStep]:
    """Returns the steps of a recipe that replace personal data in addresses and licences too, in order."""
    own = (step.privacy for step in cleaning.steps)
    return [step for step in own if step is not None and step.metadata == "scrub"]


def scrub_example(example: DroppedExample, scrubber: Pii) -> DroppedExample:
    """Returns an example without personal data, whose excerpt has about `EXCERPT_CHARACTERS`.

    Example:

    >>> example = DroppedExample("1a", "web", "x.org/?of=jane@roe.org", "Write to jane@roe.org.")
    >>> shown = scrub_example(example, scrubber_for(Cleaning()))
    >>> shown.uri, shown.excerpt
    ('x.org/?of=<EMAIL>', 'Write to <EMAIL>.')
    """
    excerpt = scrubber.scrub_beginning(example.excerpt, EXCERPT_CHARACTERS)
    return example._replace(uri=scrubber.scrub_address(example.uri), excerpt=excerpt)
