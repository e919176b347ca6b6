"""The model that a run starts from."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import pydantic

from firth.recipes.base.file_names import NamesFiles
from firth.recipes.base.recipe_type import MAX_SIZE, Config

# The files of a bundle, as `firth.models.save_model` writes them.
RECIPE_FILE = "recipe.yaml"
WEIGHTS_FILE = "weights.safetensors"
ADAPTER_FILE = "adapter.json"
TOKENIZER_FOLDER = "tokenizer"

# The training of a run that starts from a bundle, extends no preset and does not state it: few steps, each
# small, which is enough for trained weights.
TRAINING = {
    "steps": 1_000,
    "batch_size": 32,
    "optimizer": {"kind": "adamw", "learning_rate": 5e-5, "warmup_steps": 100},
    "checkpoint_every_steps": 200,
    "eval_every_steps": 100,
}

Digest = Annotated[str, pydantic.Field(pattern=r"^[0-9a-f]{64}$")]


class Base(Config):
    """The model bundle that a run starts from, instead of weights drawn by the seed.

    In a recipe file, `base: NAME` is short for `base: {bundle: NAME}`. Tokenizer, sequences, objective and
    model are those of the bundle, unless a file or an option says otherwise; see
    `firth.recipes.reading.bases`.
    """

    derived_keys: ClassVar[Mapping[str, str]] = {"digest": "`bundle`", "updates": "`take_optimizer`"}

    bundle: Annotated[str, NamesFiles(is_folder=True)]
    """Folder of the bundle. A recipe file may say a run's name below the root of runs, the name of an
    imported model there, or a path: of a bundle, or of another library's folder or checkpoint, which `firth
    import` reads and which is imported below the root once."""
    digest: Digest
    """SHA-256 over the bundle's files, in hex, which is written out when the recipe is read. A bundle with
    another digest is another start."""
    added_words: tuple[str, ...] = ()
    """Words that become pieces of the tokenizer, in lower case if it lower-cases. Their rows of the model's
    tables start as the mean of the pieces that they fell into."""
    added_count: int = pydantic.Field(default=0, ge=0, le=MAX_SIZE)
    """Number of further words that become pieces: those of the new text that save the most tokens. A small
    corpus may have fewer; the model keeps this many rows."""
    take_optimizer: bool = False
    """True to resume the state of the base's optimizer too, which is in the checkpoints of its run. The
    learning rate has its warm-up and decay again."""
    updates: int = pydantic.Field(default=0, ge=0, lt=2**62)
    """Updates that this optimizer has made, which is written out when the recipe is read; 0 without
    `take_optimizer`."""

    @pydantic.model_validator(mode="after")
    def _updates_are_of_what_is_taken(self) -> "Base":
        if self.updates and not self.take_optimizer:
            raise ValueError(f"updates: {self.updates} without take_optimizer; leave the key out")
        return self

    @property
    def added(self) -> int:
        """The rows that the vocabulary grows by."""
        return len(self.added_words) + self.added_count

    @property
    def start_key(self) -> dict[str, Any]:
        """Sources of the weights at the start; the place of the bundle is not one."""
        return self.model_dump(exclude={"bundle"})
