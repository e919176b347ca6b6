"""The base of all methods that adapt a model."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from firth.recipes.base.recipe_type import Config


class Method(Config):
    """Base of the methods, which state the trained and the added parts of an adapted model.

    `firth.tuning.METHODS` has the function of each kind that prepares a built model.
    """

    adds: ClassVar[bool] = False
    """True if it adds something to the model, which is also saved alone."""
    merges: ClassVar[bool] = False
    """True if what it adds becomes a part of the weights that it is added to. If not, it stays a part of the
    model that is saved and served, and `firth.models.ADDITIONS` has the function that makes it."""
    starts_as_base: ClassVar[bool] = True
    """True if the model gives what its base gives, before what is added is trained."""
    one_text_in_a_row: ClassVar[bool] = False
    """True if each text needs a row of its own."""
    takes_source: ClassVar[bool] = False
    """True if a run may start from an adapter that another run with this method has saved, the folder
    `source`, whose digest is `source_digest`."""
    learning_rate: ClassVar[float | None] = None
    """Least learning rate of a recipe that says none; None for that of the form of its texts, which is higher
    for narrow models."""
    reads_task_numbers: ClassVar[bool] = False
    """True if what it adds reads the number of the task of each text, where a run has several tasks."""

    @property
    def extends_model(self) -> bool:
        """True if the recipe's model is its base and, for as long as it lives, what the method adds."""
        return self.adds and not self.merges

    if TYPE_CHECKING:
        kind: str

    @property
    def kept(self) -> "Method":
        """The method of which what is kept after training is made; itself unless a part of it is dropped."""
        return self

    def virtual_tokens(self, model: Any) -> int:
        """Returns the number of positions that it adds before each text of the encoder or decoder."""
        return 0

    def decoder_virtual_tokens(self, model: Any) -> int:
        """Returns the number of positions that it takes before each text of a decoder next to an encoder."""
        return 0

    @classmethod
    def positions_of(cls, said: Any) -> int:
        """Returns the most positions that a method takes before a text, which may not be checked yet."""
        return 0

    @classmethod
    def with_task(cls, said: Any, task: Any) -> Any:
        """Returns a plain value of the method, completed by the values that follow from the task."""
        return said

    def source_conflicts(self, other: Mapping[str, Any]) -> Iterator[str]:
        """Yields a line for each value that does not fit the adapter that a run starts from."""
        yield from ()

    def task_conflicts(self, task: Any) -> Iterator[str]:
        """Yields a line for each value that does not fit a task; without any, nothing."""
        yield from ()

    def steps_conflicts(self, steps: int) -> Iterator[str]:
        """Yields a line for each value that does not fit the number of steps; without any, nothing."""
        yield from ()

    def conflicts(self, model: Any) -> Iterator[str]:
        """Yields a line for each value that does not fit a model; without any, nothing."""
        yield from ()
