"""Trains a tiny BERT on docstrings through the whole pipeline, and asks the model that it serves.

    python examples/train_and_serve.py

A second call finds everything done. The other examples use its model.
"""

import argparse
import pathlib
import sys

from firth.recipes import Recipe, load_recipe

NOT_BLESSED = "the model was not blessed; give it more --steps"
NAME = "train_and_serve"
CHANGES = (
    f"name={NAME}",
    "sources=[{kind: docstrings, packages: [keras, numpy], standard_library: false}]",
    "tokenizer.vocabulary_size=2000",
    "sequences={length: 64, shards: 2}",
    "objective={max_predictions: 10, next_sentence: false}",
    "model={dropout: 0.0, attention: {dropout: 0.0}}",
    "training={batch_size: 16, optimizer: {warmup_steps: 30}}",
)


def recipe_of(steps: int) -> Recipe:
    """Returns the preset `bert_tiny`, made smaller still.

    Args:
        steps: Steps of the training.
    """
    return load_recipe("bert_tiny", [*CHANGES, f"training.steps={steps}"])


def train(root: pathlib.Path, steps: int) -> bool:
    """Runs the pipeline in `root`, or resumes it; returns whether the model was blessed."""
    # Imported here, since TFX takes a while.
    from firth.pipelines import local

    result = local.run(recipe_of(steps), root, local.RunOptions(on_event=_tell))
    print(f"perplexity over unigram: {result.evaluation['overall']['perplexity_over_unigram']:.2f}")
    for reason in result.reasons:
        print(reason)
    return result.blessed


def trained(root: pathlib.Path, steps: int) -> pathlib.Path:
    """Returns the folder of the run, after training if that has not been done yet."""
    if not (root / NAME / "run.json").exists() and not train(root, steps):
        sys.exit(NOT_BLESSED)
    return root / NAME


def arguments(description: str) -> argparse.Namespace:
    """Returns the arguments of the command: `root` and `steps`."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default="firth-runs", help="folder of all runs")
    parser.add_argument("--steps", type=int, default=250, help="steps of the training")
    return parser.parse_args()


def _tell(event) -> None:
    if event["kind"] == "component" and event["state"] != "running":
        print(f"{event['name']}: {event['state']}", flush=True)


def main() -> None:
    """Trains, then asks the served model for a word."""
    given = arguments(__doc__)
    if not train(given.root, given.steps):
        sys.exit(NOT_BLESSED)
    from firth.serving import Client

    text = "Returns the [MASK] of the array."
    for piece, score in Client(given.root / NAME / "serving").fill_mask([text])[0][0]:
        print(f"{score:.3f}  {text.replace('[MASK]', piece)}")
    print(f"served from {given.root / NAME / 'serving'}")


if __name__ == "__main__":
    main()
