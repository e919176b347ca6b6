"""The gallery of presets, made of the recipes, of the counting and of the kept figures: `presets_page()`.

    python -m scripts.docs.preset_pages build/docs/presets.md

writes it, in the environment of firth: KerasHub's families need Keras, which the site's environment lacks.
"""

import contextlib
import itertools
import json
import re
from collections.abc import Iterable, Mapping

from benchmarks.tables import FIGURES
from firth.cli.costs import count_text
from firth.interop.errors import InteropError
from firth.interop.hugging_face import families as hugging_face
from firth.interop.keras_hub import exporting as keras_hub
from firth.recipes import Recipe, load_recipe, preset_names
from firth.recipes.counting import memory_bytes, parameter_counts
from firth.recipes.reading.families import family_of
from firth.reports.quantities import bytes_text
from scripts.docs.made_pages import table, write_page

_INTRODUCTION = """A preset is a recipe that is kept in the package. `firth run NAME` trains it,
`extends: NAME` in a recipe changes some of its values, and `firth show NAME` prints it in full.

- **Parameters** are those of the model without the heads of its objective.
- **Model** is the memory of weights, gradients and the optimizer's moments in training, and **a row** that of
  the activations of one row: a batch needs so much for each of its rows.
- **Memory of a step** is that of the preset's own batch at its peak, as `firth show` counts it, with the copy
  that a checkpoint is written from. Published batches are large; smaller ones and
  [other keys](how-to/memory.md) need less.
- **Weights from** names the folders that [`firth import`](interop.md) reads as a model of exactly this
  architecture: `hf` with the `model_type` of its `config.json`, `keras` with the class of the backbone in
  KerasHub, or `elmo`. Variants come in too, such as KerasHub's BERT with its approximate GELU. Not every
  size has published weights, GPT-3's for one.

[Measured](#measured) has tokens a second, and how much the small ones learned from equal tokens.
"""
_MEASURED = """All of these presets were trained on equal tokens on two cores, as
[Speed](speed.md#what-the-tiny-presets-learn) describes. Bits a byte are those of the held-out text, next to a
unigram model with the same tokenizer: objectives and tokenizers differ, so compare a preset with its unigram
model. The bars are the share of the unigram model's bits that each saves."""
_HEADING = [
    "Preset",
    "Parameters",
    "Model",
    "A row",
    "Rows",
    "Memory of a step",
    "Weights from",
    "Description",
]
# Columns of the figures `learning`, and their headings here.
_LEARNED = {"tokens/s": "Tokens/s", "bits/byte": "Bits a byte", "unigram": "Unigram model"}
_BAR, _LABEL, _SCALE = 22, 150, 900


def presets_page() -> str:
    """Returns the page as Markdown: a section for each family, and the presets that were measured."""
    sections = [
        _section(family, list(names)) for family, names in itertools.groupby(preset_names(), family_of)
    ]
    learned = learned_figures()
    rows = [[f"`{name}`", *(row[key] for key in _LEARNED)] for name, row in learned.items()]
    measured = [
        "## Measured",
        _MEASURED,
        gains_picture(learned),
        table("presets", ["Preset", *_LEARNED.values()], rows),
    ]
    return "\n\n".join(["# Presets", _INTRODUCTION, *sections, *measured, ""])


def learned_figures() -> dict[str, dict[str, str]]:
    """Returns the rows of the figures `learning` by preset, each value by its column."""
    parts = json.loads((FIGURES / "learning.json").read_text(encoding="utf-8"))["parts"]
    tables = [part for part in parts if isinstance(part, Mapping) and "rows" in part]
    return {
        row[0].strip("`"): dict(zip(table["columns"], row, strict=True))
        for table in tables
        for row in table["rows"]
    }


def gains_picture(learned: Mapping[str, Mapping[str, str]]) -> str:
    """Returns an SVG of how far below its unigram model each preset came, in percent of its bits a byte.

    Args:
        learned: Rows by preset, as `learned_figures` returns them; those without numbers are left out.

    Example:

    >>> gains_picture({"a": {"bits/byte": "2.0", "unigram": "2.5"}}).count("<rect")
    1
    """
    gains = {name: gain for name, row in learned.items() if (gain := _gain(row)) is not None}
    best_first = sorted(gains.items(), key=lambda each: -each[1])
    bars = "".join(_bar(index, name, gain) for index, (name, gain) in enumerate(best_first))
    tall, wide = _BAR * len(gains), _LABEL + _SCALE * max(gains.values(), default=0) + 60
    size = f'viewBox="0 0 {wide:.0f} {tall}" style="max-width: {wide:.0f}px"'
    title = "<title>Bits a byte below the unigram model, in percent</title>"
    picture = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>{title}{bars}</svg>'
    return f'<div class="bars">{picture}</div>'


def _gain(row: Mapping[str, str]) -> float | None:
    """Returns the share of a unigram model's bits that a preset saves; None if it was not measured."""
    numbers = [re.fullmatch(r"\**(\d+\.\d+)\**", row[key]) for key in ("bits/byte", "unigram")]
    if not all(numbers):
        return None
    bits, unigram = (float(found[1]) for found in numbers if found)
    return 1 - bits / unigram


def _bar(index: int, name: str, gain: float) -> str:
    top, long = index * _BAR, max(0.0, _SCALE * gain)
    middle = top + _BAR / 2
    return (
        f'<text class="name" x="{_LABEL - 8}" y="{middle}">{name}</text>'
        f'<rect x="{_LABEL}" y="{top + 3}" width="{long:.1f}" height="{_BAR - 6}"/>'
        f'<text x="{_LABEL + long + 6:.1f}" y="{middle}">{100 * gain:.1f}%</text>'
    )


def _section(family: str, names: list[str]) -> str:
    recipes = [load_recipe(name) for name in names]
    goals = _listed(f"[`{each.goal.kind}`](reference/recipe/objective.md)" for each in recipes)
    kinds = _listed(f"[`{each.model.kind}`](reference/recipe/model.md)" for each in recipes)
    link = "](reference/recipe/tokenizer.md)"
    tokenizers = _listed(
        f"[`{each.tokenizer.kind}`{link} of {each.tokenizer.vocabulary_size:,} pieces" for each in recipes
    )
    facts = f"Model: {kinds}. Objective: {goals}. Tokenizer: {tokenizers}."
    return "\n\n".join([f"## {family}", facts, table("presets", _HEADING, [_row(each) for each in recipes])])


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _row(recipe: Recipe) -> list[str]:
    held = memory_bytes(recipe, last_stage=True)
    rows_at_once = recipe.training.batch_size // recipe.training.gradient_accumulation_steps
    return [
        f"`{recipe.name}`",
        count_text(parameter_counts(recipe)["total"]),
        bytes_text(held["weights"] + held["gradients"] + held["moments"]),
        bytes_text(held["activations"] / rows_at_once),
        f"{recipe.training.batch_size:,} of {recipe.sequences.length:,}",
        bytes_text(memory_bytes(recipe)["total"]),
        weights_from(recipe) or "–",
        recipe.description,
    ]


def weights_from(recipe: Recipe) -> str:
    """Returns the folders of other libraries that hold a model of a recipe's architecture, as Markdown.

    Args:
        recipe: Recipe of a preset.

    Example:

    >>> weights_from(load_recipe("roberta_base"))
    '`hf` (`roberta`), `keras` (`RobertaBackbone`)'
    """
    found = []
    with contextlib.suppress(InteropError):
        found.append(f"`hf` (`{hugging_face.family_of(recipe.model, recipe.goal).model_type}`)")
    with contextlib.suppress(InteropError):
        found.append(f"`keras` (`{keras_hub.family_of(recipe).backbone}`)")
    # ELMo is the only model whose layers are given one by one.
    if recipe.model.gives_layers:
        found.append("`elmo`")
    return ", ".join(found)


if __name__ == "__main__":
    write_page(presets_page())
