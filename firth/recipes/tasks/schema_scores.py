"""The base of the tasks whose written texts are scored by a JSON Schema."""

import warnings
from collections.abc import Mapping
from typing import Any

import pydantic

from firth.recipes.tasks.task import Task

# The score of the texts that are written freely by a schema, and that of those written under it.
SCHEMA_SCORES = ("schema_valid", "schema_valid_constrained")
# Pydantic's deprecated method of the same name as the key `schema` is used nowhere.
warnings.filterwarnings("ignore", 'Field name "schema" in "', UserWarning)


class SchemaScored(Task):
    """Base of tasks that write texts, which may have a schema.

    Example:

    >>> from firth.recipes.tasks.dialogue import Dialogue
    >>> Dialogue(schema={"type": "integer"}).score_names
    ('reply_probability', 'schema_valid', 'schema_valid_constrained')
    """

    schema: str | Mapping[str, Any] | None = None  # type: ignore[assignment]
    """JSON Schema (draft 2020-12) of the texts, or its file. The held-out records are then also scored by the
    share of texts that are valid by it: `schema_valid` of the texts that the model writes freely, and
    `schema_valid_constrained` of those that it writes under the schema. Keywords that no automaton has are
    refused. The schema changes neither what is learned nor what is served."""

    @pydantic.model_validator(mode="after")
    def _validity_needs_a_schema(self) -> "SchemaScored":
        if self.schema is None and (named := [each for each in SCHEMA_SCORES if each in self.scores]):
            raise ValueError(f"scores: {named[0]} needs task.schema, which texts are valid by")
        return self

    @property
    def text_schema(self) -> str | Mapping[str, Any] | None:
        """The JSON Schema, or its file, that the texts which it writes are scored by; None for none."""
        return self.schema

    @property
    def score_names(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of its scores, the headline first; with a schema, those by it among them."""
        return self.scores if self.schema is None else tuple(dict.fromkeys((*self.scores, *SCHEMA_SCORES)))

    def score_options(self, name: str) -> dict[str, Any]:
        """Returns the options of a score: of validity the schema."""
        return {"schema": self.schema} if name in SCHEMA_SCORES else super().score_options(name)
