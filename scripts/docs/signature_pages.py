"""The reference of the signatures of exported models, made of what they describe: `signatures_page()`.

    python -m scripts.docs.signature_pages build/docs/signatures.md

writes it, in the environment of firth: the signatures need TensorFlow, which the site's environment lacks.
"""

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

from firth.recipes import load_recipe
from firth.recipes.reading.families import preset_names
from firth.recipes.tasks.tasks import task_types
from firth.serving import score_tokens
from firth.serving.exported_model import shape_in_words, valid
from firth.serving.parameter import WITH_PARAMETERS
from firth.serving.signature import OTHER_SIGNATURES, Signature, TensorSignature
from firth.serving.signatures import SIGNATURES
from firth.serving.slots.signatures import slot_descriptions
from scripts.docs.made_pages import table, write_page

_INTRODUCTION = f"""A served model answers by signatures: functions of strings, one for each text of a batch.
Which ones a model has follows from its recipe; `firth predict NAME` lists them, with the sizes of its
tensors. Sizes that are words here depend on the texts or on the model. What a row has no room for is cut, and
`truncated` tells of it. `attention` is there by choice: `export.attention: true`.

A signature with parameters is there twice, because a signature of TF Serving has no optional inputs: under
its name it reads texts alone and has the defaults; with `{WITH_PARAMETERS}` after its name it also reads a
number of each kind for each text."""
_OF_SLOTS = "Models of a recipe with `export.slots` have it; see [Slots](../how-to/slots.md)."
_OF_CAUSAL = "Causal language models have it, and those that learned dialogues from one."
# Fields of a task that change what is read of a record.
_SWITCHES = ("pair", "question")


class Offer(NamedTuple):
    """A signature, and who has it.

    Attributes:
        name: Name of the signature.
        part: Part of the recipe that it follows from, an objective or a task.
        kind: Kind of that part.
        signature: The signature.
    """

    name: str
    part: str
    kind: str
    signature: Signature


def signatures_page() -> str:
    """Returns the page as Markdown: of each signature who has it, and its inputs, parameters and outputs."""
    offers = [*_of_objectives(), *_of_tasks()]
    sections = [_section(name, [each for each in offers if each.name == name]) for name in SIGNATURES]
    others = [f"## `{name}`\n\n{meaning}" for name, meaning in OTHER_SIGNATURES.items()]
    tokens = _tensor_section(score_tokens.NAME, score_tokens.SIGNATURE, _OF_CAUSAL)
    of_slots = slot_descriptions("slots", "words", "likeliest").items()
    slots = [_tensor_section(name, each, _OF_SLOTS) for name, each in of_slots]
    return "\n\n".join(["# Signatures", _INTRODUCTION, *sections, *others, tokens, *slots, ""])


def _of_objectives() -> Iterator[Offer]:
    """Yields the signatures of the models of all presets, with those that `export` asks for."""
    for preset in preset_names():
        recipe = load_recipe(preset)
        if recipe.model.gives_attention:
            asked = recipe.export.model_copy(update={"attention": True})
            recipe = recipe.model_copy(update={"export": asked})
        for name, offer in SIGNATURES.items():
            if (signature := offer(recipe)) is not None:
                yield Offer(name, "objective", recipe.goal.kind, signature)


def _of_tasks() -> Iterator[Offer]:
    """Yields the signatures that ask the models of all tasks for their answers."""
    model = SimpleNamespace(has_encoder=True, gives_layers=False)
    for kind, task in task_types().items():
        for goal in _variants(task):
            for reads_task_numbers in (False, *([True] if "tasks" in task.model_fields else [])):
                method = SimpleNamespace(reads_task_numbers=reads_task_numbers)
                recipe: Any = SimpleNamespace(goal=goal, trained_by=method, model=model)
                if (signature := SIGNATURES[goal.signature](recipe)) is None:
                    continue
                yield Offer(goal.signature, "task", kind, signature)
                scored_by = goal.scored_by if goal.scored_by != goal.signature else ""
                for name in filter(None, (signature.texts_by, signature.words_by, scored_by)):
                    if (other := SIGNATURES[name](recipe)) is not None:
                        yield Offer(name, "task", kind, other)


def _variants(task: Any) -> Iterator[Any]:
    more = {"tasks": {"name": None}} if "tasks" in task.model_fields else {}
    yield task.model_construct(**more)
    for name in _SWITCHES:
        if name in task.model_fields and not more:
            yield task.model_construct(**{name: True})


def _section(name: str, offers: list[Offer]) -> str:
    meanings = dict.fromkeys(each.signature.meaning for each in offers)
    described = [each.signature.describe() for each in offers]
    inputs, outputs, parameters = (_together(described, part) for part in ("inputs", "outputs", "parameters"))
    rows = [*_tensors("input", inputs), *_parameters(parameters), *_tensors("output", outputs)]
    owners = table("owners", ["Who has it", "What is read"], _owners(offers))
    return "\n\n".join(
        [f"## `{name}`", " ".join(meanings), owners, table("tensors", ["", "", "Type", ""], rows)]
    )


def _tensor_section(name: str, described: TensorSignature, owner: str) -> str:
    said = described.describe()
    rows = [*_tensors("input", said["inputs"]), *_tensors("output", said["outputs"])]
    return "\n\n".join(
        [f"## `{name}`", f"{described.meaning} {owner}", table("tensors", ["", "", "Type", ""], rows)]
    )


def _together(described: list[dict[str, Any]], part: str) -> dict[str, Any]:
    """Returns the tensors of a signature in all models by name, as the first that has one describes it."""
    found: dict[str, Any] = {}
    for each in described:
        found = {**found, **{name: said for name, said in each[part].items() if name not in found}}
    return found


def _owners(offers: list[Offer]) -> list[list[str]]:
    """Returns who has a signature, by the inputs that it has there."""
    found: dict[str, dict[str, dict[str, None]]] = {}
    for each in offers:
        inputs = ", ".join(f"`{name}`" for name in each.signature.inputs)
        found.setdefault(inputs, {}).setdefault(each.part, {})[f"`{each.kind}`"] = None
    return [
        ["; ".join(f"{part} {', '.join(kinds)}" for part, kinds in owners.items()), inputs]
        for inputs, owners in found.items()
    ]


def _tensors(part: str, tensors: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    return [
        [f"`{name}`", part, f"{each['dtype']} {shape_in_words(each['shape'])}", each["meaning"]]
        for name, each in tensors.items()
    ]


def _parameters(parameters: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    return [
        [
            f"`{name}`",
            "parameter",
            f"{each['dtype']} {shape_in_words(['batch'])}",
            f"{each['meaning']}; {valid(each)}; default {each['default']:g}",
        ]
        for name, each in parameters.items()
    ]


if __name__ == "__main__":
    write_page(signatures_page())
