"""Base of the recipes of all runs, whatever they train a model for."""

import urllib.parse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import pydantic

from firth.recipes.base.names import FolderName
from firth.recipes.base.recipe_type import Config
from firth.recipes.goals.goal import Goal
from firth.recipes.run.search import Search
from firth.recipes.run.validation import InfraValidation
from firth.recipes.training.evaluation import Evaluation
from firth.recipes.training.export import Export
from firth.recipes.training.training import Training
from firth.recipes.tuning.method import Method
from firth.recipes.tuning.methods import Full


def _checked(url: str) -> str:
    if "://" not in url:
        raise ValueError(
            "is not a URL; write it as postgresql://user@host:port/database, or the same of mysql://, and a "
            "file of SQLite as --metadata FILE"
        )
    try:
        has_password = bool(urllib.parse.urlsplit(url).password)
    except ValueError:
        # Python's own words may quote a part of a password.
        raise ValueError("cannot be read as a URL") from None
    if has_password:
        raise ValueError(
            "has a password, which would stand in the run's folder and in each bundle; leave it out and set "
            "FIRTH_METADATA_PASSWORD"
        )
    return url


MetadataUrl = Annotated[str, pydantic.AfterValidator(_checked)]


if TYPE_CHECKING:
    from firth.recipes.models.model import AnyModel
    from firth.recipes.run.base import Base
    from firth.recipes.tokenizers.tokenizer import AnyTokenizerConfig, Sequences


class RunRecipe(Config):
    """The base of the recipes of runs: of those that pre-train a model, and of those that adapt one.

    Models, training, evaluation and serving read these fields, and the goal; none asks which run it is.
    Each kind of run also has `tokenizer`, `sequences` and `model`.
    """

    own_key: ClassVar[str]
    """A key that only this kind of run has."""
    goal_key: ClassVar[str]
    """The key of its goal."""
    data_key: ClassVar[str] = ""
    """The key of what it reads."""
    trains_on_corpus: ClassVar[bool] = False
    """True if what it trains on is a corpus, which a cleaning has a report on."""
    counts_epochs: ClassVar[bool] = False
    """True if the steps of its training follow from its rows; see `scheduled`."""
    searched_keys: ClassVar[tuple[str, ...]] = ()
    """First parts of the keys that trials may have other values of."""
    counted_keys: ClassVar[Mapping[str, str]] = {}
    """Keys that nobody says, and what they follow from."""
    derived_keys: ClassVar[Mapping[str, str]] = {"name": "the name of the file"}
    start_key: ClassVar[dict[str, Any]] = {}
    """Further sources of the weights at the start, next to seed, model and goal; a bundle, for one."""
    starts_from_blessed: ClassVar[bool] = False
    """True if the run asks to start from the latest model that its pipeline has blessed."""

    has_projections: ClassVar[bool] = False
    """Whether its model may have `export.projections`, which nothing here trains."""

    if TYPE_CHECKING:
        tokenizer: AnyTokenizerConfig
        sequences: Sequences
        model: AnyModel
        base: Base | None = None

    name: FolderName
    """Name of the run, and of its folder."""
    description: str = ""
    """Text for readers of `firth recipes` and of the report."""
    seed: Annotated[int, pydantic.Field(ge=0, lt=2**31)] = 42
    """Seed of all random choices: weights, data order, masks and dropout."""
    search: Search | None = None
    """Trials of other values of some keys before the training; null for none."""
    training: Training = Training()
    """Steps, batches, optimizer, precision and checkpoints."""
    evaluation: Evaluation = Evaluation()
    """Metrics, and the thresholds that a model must keep to be pushed."""
    export: Export = Export()
    """Settings of the served signatures."""
    infra_validation: InfraValidation | None = None
    """Server in a container that the model is tried in; null for none."""
    metadata: MetadataUrl | None = None
    """URL of a database of PostgreSQL or MariaDB that keeps the metadata of local runs, if the command names
    no other place: `postgresql://user@host:port/database`, or the same of `mysql://`. The password is that of
    the variable `FIRTH_METADATA_PASSWORD`. Without a URL, a file of SQLite in the run's folder."""

    @pydantic.model_validator(mode="after")
    def _projections_come_with_weights(self) -> "RunRecipe":
        if self.export.projections and not self.has_projections:
            raise ValueError(
                "export.projections: they come with a sentence encoder that is imported, and no run trains "
                "them; leave them out"
            )
        return self

    @classmethod
    def reads_in(cls, data: Any) -> list[str]:
        """Returns the inputs of a run, a line each, from the value at its `data_key`.

        Args:
            data: Plain value, which an older version may have written.

        Raises:
            ValueError: if it is not what such a run reads.
        """
        return []

    @property
    def trained_by(self) -> Method:
        """The method that says what of the model is trained: all of it."""
        return Full()

    def scheduled(self, rows: int, records: int) -> "RunRecipe":
        """Returns the recipe with steps and batches that follow from the rows of its training split.

        Args:
            rows: Number of rows.
            records: Number of records in them.
        """
        return self

    def starting_from(self, bundle: str, digest: str) -> "RunRecipe":
        """Returns the recipe of a run that starts from an earlier run's model, where it asks for that.

        Args:
            bundle: Folder of that model's bundle.
            digest: SHA-256 over its files, in hex.
        """
        del bundle, digest
        return self

    @property
    def goal(self) -> Goal:
        """The goal that the model is trained for: an objective, or a task."""
        return getattr(self, self.goal_key)

    @pydantic.model_serializer(mode="wrap")
    def _in_order(self, write: pydantic.SerializerFunctionWrapHandler) -> dict[str, Any]:
        return in_order(write(self))

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, make: pydantic.GetJsonSchemaHandler) -> dict[str, Any]:
        """Returns the JSON Schema with the keys in the order in which a recipe is written.

        Args:
            core: Pydantic's core schema.
            make: Pydantic's function from it to a JSON Schema.
        """
        schema = super().__get_pydantic_json_schema__(core, make)
        return {**schema, "properties": in_order(schema["properties"])}


# Keys that are written after the others.
_LAST = ("search", "training", "evaluation", "export", "infra_validation", "metadata")


def in_order(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns values by key as a recipe is written: first the data and the model, then the training.

    Pydantic puts the fields of a base first.

    Example:

    >>> in_order({"name": "small", "training": {}, "model": {}})
    {'name': 'small', 'model': {}, 'training': {}}
    """
    last = [key for key in _LAST if key in values]
    return {key: values[key] for key in [*(key for key in values if key not in last), *last]}
