"""A run's folder with a bundle and the model that was exported from it, as a finished run leaves them."""

import hashlib
import json
import pathlib

from firth.models import save_model
from firth.tokenizers import save_tokenizer
from tests.serving.slots.models import copy_of_exported, generator_of_exported


def made_run(made_once, run: pathlib.Path) -> pathlib.Path:
    """Writes the folder of a run, and returns it.

    Args:
        made_once: The fixture of this name.
        run: Folder of the run.
    """
    generator, bundle = generator_of_exported(), run / "pipeline" / "Trainer" / "model" / "3" / "bundle"
    save_tokenizer(generator.tokenizer, run / "tokenizer")
    save_model(generator.model, generator.recipe, run / "tokenizer", bundle)
    copy_of_exported(made_once, run / "serving" / "7")
    (run / "recipe.yaml").write_text("name: tiny\n")
    summary = {
        "blessed": True,
        "bundle": str(bundle),
        "pushed": str(run / "serving" / "7"),
        "served": str(run / "serving" / "7"),
        "made_of": {"recipe.yaml": hashlib.sha256((run / "recipe.yaml").read_bytes()).hexdigest()},
    }
    (run / "run.json").write_text(json.dumps(summary))
    return run
