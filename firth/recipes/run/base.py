"""The model that a run goes on from."""

from typing import Annotated, Any

import pydantic

from firth.recipes.base.file_names import NamesFiles
from firth.recipes.base.recipe_type import Config

# The files of a bundle, as `firth.models.save_model` writes them.
RECIPE_FILE = "recipe.yaml"
WEIGHTS_FILE = "weights.safetensors"
TOKENIZER_FOLDER = "tokenizer"

# Of a run that goes on from a bundle and extends no preset, what its recipe does not say: few steps, each
# small, as weights that are trained need no more.
TRAINING = {
    "steps": 1_000,
    "batch_size": 32,
    "optimizer": {"kind": "adamw", "learning_rate": 5e-5, "warmup_steps": 100},
    "checkpoint_every_steps": 200,
    "eval_every_steps": 100,
}

Digest = Annotated[str, pydantic.Field(pattern=r"^[0-9a-f]{64}$")]


class Base(Config):
    """The model bundle that a run starts from, in the place of weights drawn by the seed.

    In a recipe file, `base: NAME` is short for `base: {bundle: NAME}`. Tokenizer, sequences, objective and
    model are those of the bundle, unless a file or an option says otherwise; see
    `firth.recipes.reading.bases`.

    Attributes:
        bundle: Folder of the bundle. A recipe file may say a run's name below the root of runs, the name of
            an imported model there, or a path.
        digest: SHA-256 over the bundle's files, in hex, which is written out when the recipe is read. A
            bundle with another digest is another start.
    """

    bundle: Annotated[str, NamesFiles(is_folder=True)]
    digest: Digest

    @property
    def start_key(self) -> dict[str, Any]:
        """What the weights at the start follow from; the place of the bundle is not a part of it."""
        return self.model_dump(exclude={"bundle"})
