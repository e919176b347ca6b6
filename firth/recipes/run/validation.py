"""Limits of drift and skew: distances of a run's data to those of the last one, and to requests."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Literal

import pydantic

from firth.recipes.base.errors import suggest
from firth.recipes.base.file_names import NamesFiles
from firth.recipes.base.recipe_type import Config, Fraction

Distances = dict[str, Fraction]


class Validation(Config):
    """Largest distances between the distributions of features, as TensorFlow Data Validation measures them.

    A feature of categories is compared by the L-infinity norm, the largest difference of a category's shares;
    one of numbers by the Jensen-Shannon divergence of its histograms. Both are from 0 to 1.
    """

    drift: Distances = pydantic.Field(default={})
    """Largest distance from the last run of the same pipeline, by feature: of documents `<source>/outcome`,
    `<source>/uri`, `<source>/licence`, `<source>/bytes` and `<source>/words`; of labelled records `label`,
    `source`, and of each text `<role>/bytes` and `<role>/words`. A run whose data were refused is passed
    over."""
    on_anomaly: Literal["stop", "report"] = "stop"
    """Consequence of a larger distance: `stop` ends the run, `report` writes it down. Data that a run has
    taken under `report` are not refused again under `stop`."""

    @property
    def compares(self) -> bool:
        """True if anything is compared."""
        return bool(self.drift)

    @property
    def stops(self) -> bool:
        """True if a larger distance ends the run."""
        return self.on_anomaly == "stop"

    def conflicts(self, features: Iterable[str]) -> Iterator[str]:
        """Yields a line for each name that is not a feature."""
        yield from _unknown("drift", self.drift, features)


class CorpusValidation(Validation):
    """Largest distances of documents, as TensorFlow Data Validation measures them, and changes of a corpus.

    A feature of categories is compared by the L-infinity norm, the largest difference of a category's shares;
    one of numbers by the Jensen-Shannon divergence of its histograms. Both are from 0 to 1.
    """

    shares: dict[Literal["languages", "sources", "domains"], Fraction] = pydantic.Field(default={})
    """Largest change of a share since the last run of the same pipeline, after the cleaning: of any of the
    `languages`, in documents of a sample of 1,000; of any of the `sources`, in bytes; of any of the web
    `domains`, in documents."""

    @property
    def of_records(self) -> Validation:
        """The part that is about the documents as they are read."""
        return Validation(drift=self.drift, on_anomaly=self.on_anomaly)

    @property
    def of_corpus(self) -> "CorpusValidation":
        """The part that is about the cleaned corpus; without any bound, the default."""
        kept = self.model_copy(update={"drift": {}})
        return kept if self.shares else CorpusValidation()


class TaskValidation(Validation):
    """Largest distances of labelled records from those of the last run, and from requests to a served model.

    TensorFlow Data Validation measures them, as those of documents.
    """

    skew: Distances = pydantic.Field(default={})
    """Largest distance between the records to train on and `requests`, by feature: of each text
    `<role>/bytes` and `<role>/words`."""
    requests: Annotated[str | None, NamesFiles()] = None
    """csv, tsv, jsonl or txt file of texts that a served model was asked about, in columns of the same names
    as in the recipe's data, or of the texts' roles; compressed with gzip or not."""
    unknown_targets: Fraction = 0.1
    """Largest share of the pieces of the texts to write that stand for text which the base's vocabulary
    lacks; more of them end the run before anything is trained."""

    @property
    def compares(self) -> bool:
        """True if anything is compared."""
        return bool(self.drift or self.skew)

    def conflicts(self, features: Iterable[str]) -> Iterator[str]:
        """Yields a line for each name that is not a feature; requests have sizes of texts alone."""
        yield from super().conflicts(features)
        yield from _unknown("skew", self.skew, [each for each in features if "/" in each])

    @pydantic.model_validator(mode="after")
    def _has_both_sides(self) -> "TaskValidation":
        if self.skew and self.requests is None:
            raise ValueError("skew: name a file of requests to compare with, requests: FILE")
        if self.requests is not None and not self.skew:
            raise ValueError("requests: say what is compared with them, such as skew: {text/words: 0.1}")
        return self


def _unknown(key: str, distances: Mapping[str, float], features: Iterable[str]) -> Iterator[str]:
    there = list(features)
    for name in distances:
        if name not in there:
            yield f"validation.{key}.{name}: the records have no feature {name!r}; {suggest(name, there)}"


Tag = Annotated[str, pydantic.Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$")]


class InfraValidation(Config):
    """TFX's InfraValidator: TensorFlow Serving loads the model and answers held-out rows."""

    platform: Literal["local_docker", "kubernetes"] = "local_docker"
    """Where the server runs: `local_docker`, a container on this machine; or `kubernetes`, a pod next to the
    one in which the run is."""
    image: str = "tensorflow/serving"
    """Name of the server's image."""
    tags: Annotated[tuple[Tag, ...], pydantic.Field(min_length=1)] = ("latest",)
    """Tags of the image that the model has to run in, each of them."""
    rows: Annotated[int, pydantic.Field(ge=1, le=1000)] = 8
    """Held-out rows that the server is asked about."""
    max_loading_seconds: Annotated[int, pydantic.Field(ge=1, le=86_400)] = 300
    """Longest time in which the model may load."""
