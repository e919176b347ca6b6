"""The labelled data of a run that adapts a model."""

import posixpath
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, Union

import pydantic

from firth.recipes.base.file_names import NamesFiles
from firth.recipes.base.recipe_type import Config
from firth.recipes.corpus.mixture import ProportionalMixture

_FILE = NamesFiles()
_TSV = (".tsv", ".tsv.gz")
Share = Annotated[float, pydantic.Field(gt=0.0, lt=1.0)]


class PublishedData(Config):
    """The files of a published data set, by the names that they are published with."""

    mixture: ClassVar[None] = None

    kind: Literal["published"] = "published"
    format: str
    """Name of the data set, a key of `firth.tasks.readers.FORMATS`, such as `sst2`."""
    folder: Annotated[str, NamesFiles(is_folder=True)]
    """Folder of its files, or of the folders of all of GLUE."""
    train: str = "train"
    """Split to train on."""
    eval: str | None = "dev"
    """Split to evaluate on; null holds out a part of `train`, by a hash of each record's texts."""
    eval_fraction: Share = 0.1
    """Share of `train` that is held out where there is no `eval`."""

    @property
    def source(self) -> str:
        """The name of the records' source."""
        return self.format

    @property
    def held_out_share(self) -> float:
        """The share of the training records that is held out; 0 with a split to evaluate on."""
        return self.eval_fraction if self.eval is None else 0.0

    @property
    def reads(self) -> list[str]:
        """Inputs, a line each."""
        return [f"{self.format} {self.folder}"]


def quoted_problem(quoted: bool | None, files: Sequence[str]) -> str:
    """Returns the problem of a key `quoted`, which is about tsv files; empty if there is none."""
    if quoted is None or any(path.lower().endswith(_TSV) for path in files):
        return ""
    return f"quoted: {quoted} is about tsv files, and there is none; leave it out"


class ColumnData(Config):
    """One's own csv, tsv or jsonl files, by their columns."""

    mixture: ClassVar[None] = None

    kind: Literal["columns"] = "columns"
    train: Annotated[str, _FILE]
    """File to train on."""
    eval: Annotated[str | None, _FILE] = None
    """File to evaluate on; null holds out a part of `train`, by a hash of each record's texts."""
    texts: dict[str, str | tuple[str, ...]] = pydantic.Field(default={"text": "text"}, min_length=1)
    """Column of each text, by its role; see `firth.tasks.readers.records.ROLES`. Several columns for
    choices."""
    label: str | None = "label"
    """Column of the label; null for tasks that learn from texts alone."""
    eval_label: str | None = None
    """Column of the label in `eval`, if it is not the same, or if `train` has none."""
    id: str | None = None
    """Column of ids; null for the lines."""
    eval_fraction: Share = 0.1
    """Share of `train` that is held out where there is no `eval`."""
    quoted: bool | None = None
    """True if cells of tsv files may be in quotation marks, as spreadsheet programs and pandas write them;
    with false, the marks are a part of the text. With null, a tsv with such a cell is refused."""

    @pydantic.model_validator(mode="after")
    def _quotes_are_of_a_tsv(self) -> "ColumnData":
        if problem := quoted_problem(self.quoted, self.reads):
            raise ValueError(problem)
        return self

    @property
    def source(self) -> str:
        """The name of the records' source, of both splits: that of the file to train on."""
        return posixpath.basename(self.train).partition(".")[0]

    @property
    def held_out_share(self) -> float:
        """The share of the training records that is held out; 0 with a file to evaluate on."""
        return self.eval_fraction if self.eval is None else 0.0

    @property
    def reads(self) -> list[str]:
        """Inputs, a line each."""
        return [each for each in (self.train, self.eval) if each is not None]


class DocstringsData(Config):
    """Records made of the docstrings of installed packages, for those who have no labelled data."""

    mixture: ClassVar[None] = None

    kind: Literal["docstrings"] = "docstrings"
    task: Literal["package", "summary", "parameters", "type", "summarise"] = "package"
    """Question about a docstring. `package`: which of the packages it is from (one text). `summary`:
    whether a body belongs to a summary (a pair). `parameters`: which words are names of parameters (words
    with tags). `type`: what the type of a parameter is (a question with its answer's place). `summarise`:
    what the summary of a body is (text to text)."""
    packages: Annotated[tuple[str, ...], pydantic.Field(min_length=1)] = (
        *("keras", "matplotlib", "numpy"),
        *("pandas", "scipy", "sklearn"),
    )
    """Names of packages, as one imports them."""
    max_records: Annotated[int, pydantic.Field(ge=1)] = 10_000
    """Most records, before a part is held out."""
    eval_fraction: Share = 0.1
    """Share of the records that is held out, by a hash of each record's texts."""

    @property
    def source(self) -> str:
        """The name of the records' source."""
        return f"docstrings_{self.task}"

    @property
    def reads(self) -> list[str]:
        """Inputs, a line each."""
        return [f"{self.task} of {package}" for package in self.packages]

    @property
    def held_out_share(self) -> float:
        """The share of the records that is held out."""
        return self.eval_fraction


AnyDataSet = Annotated[Union[PublishedData, ColumnData, DocstringsData], pydantic.Field(discriminator="kind")]


class DataMixture(Config):
    """Several data sets for one task, mixed in the proportions of `min(records, limit) ** (1 / temperature)`
    (Raffel et al. 2019, section 3.5.2).

    Each record that is trained on occurs at least once in an epoch, unless others would have to be repeated
    more than `max_repeats` times. What is evaluated is not mixed, and is scored by source too.
    """

    held_out_share: ClassVar[float] = 0.0
    """The share of all training records that is held out: none, as each part has its own."""

    kind: Literal["mixture"] = "mixture"
    parts: Annotated[tuple[AnyDataSet, ...], pydantic.Field(min_length=2)]
    """The data sets, each with a source of its own name."""
    temperature: Annotated[float, pydantic.Field(gt=0.0)] = 1.0
    """Temperature: with 1, proportions are those of the sizes; the higher, the more equal."""
    limit: Annotated[int, pydantic.Field(ge=1)] | None = None
    """Number of records at which larger data sets are counted; null for no limit."""
    max_repeats: Annotated[float, pydantic.Field(ge=1.0)] = 4.0
    """Most times that the records of a data set occur in an epoch, on average."""

    @pydantic.model_validator(mode="after")
    def _sources_differ(self) -> "DataMixture":
        sources = [part.source for part in self.parts]
        for source in sources:
            if sources.count(source) > 1:
                raise ValueError(f"parts: two have the source {source!r}; give their files different names")
        return self

    @property
    def mixture(self) -> ProportionalMixture:
        """The proportions, in numbers of records."""
        return ProportionalMixture(
            kind="proportional",
            unit="documents",
            temperature=self.temperature,
            limit=self.limit,
            max_repeats=self.max_repeats,
            on_exhausted="shrink",
        )

    @property
    def source(self) -> str:
        """The names of the records' sources."""
        return "+".join(part.source for part in self.parts)

    @property
    def reads(self) -> list[str]:
        """Inputs, a line each."""
        return [line for part in self.parts for line in part.reads]


AnyLabelledData = Annotated[
    Union[PublishedData, ColumnData, DocstringsData, DataMixture], pydantic.Field(discriminator="kind")
]
_ANY_DATA: pydantic.TypeAdapter[AnyLabelledData] = pydantic.TypeAdapter(AnyLabelledData)


def labelled_data_from_json(text: str) -> AnyLabelledData:
    """Returns the part that `to_json` wrote, of whichever kind.

    Raises:
        pydantic.ValidationError: if the text does not describe labelled data.

    Example:

    >>> labelled_data_from_json(PublishedData(format="sst2", folder="/glue").to_json()).eval
    'dev'
    """
    return _ANY_DATA.validate_json(text, strict=True)
