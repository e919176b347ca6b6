"""The export of a base with several adapters."""

import dataclasses
import functools
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import keras

from firth import storage
from firth.models.additions.sharing import share_base
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.run.adapting import AdaptingRecipe
from firth.serving.adapters.routing import route
from firth.serving.saved_model import save_signatures
from firth.serving.served import Served
from firth.serving.signature import Signature
from firth.serving.signatures import text_signatures
from firth.serving.storing.weight_types import packings_of
from firth.tokenizers.storage import with_template_of

if TYPE_CHECKING:
    from firth.tokenizers.storage import AnyTokenizer

INPUT = "adapter"
Adapted = tuple[BackboneWithHeads, AdaptingRecipe]


def export_adapters(adapters: Mapping[str, Adapted], tokenizer: "AnyTokenizer", directory: str) -> None:
    """Writes a SavedModel of one base and several adapters, of which the input `adapter` chooses.

    It has the signature of their task, also as `serving_default`, with the names of adapters, string [batch],
    as one more input. Records of a batch may name different ones; an unknown name is an error. The weights of
    the base are held once, and no adapter is merged, so that methods which do not merge are served too.
    There are no slots, whatever `export.slots` says.

    Raises:
        FileExistsError: if the directory holds something.

    Example: see `tests/serving/adapters/export_test.py`.
    """
    _check(adapters)
    tasks = [recipe.task for _, recipe in adapters.values()]
    templates = [task.template_with(tokenizer.chat_template) for task in tasks]
    if any(each != templates[0] for each in templates):
        raise ValueError("the adapters write dialogues with other chat templates; export each of them alone")
    tokenizer = with_template_of(tokenizer, tasks[0])
    held: dict[str, keras.Variable] = {}
    asks, variables = {}, {}
    parts = {name: Served(model, tokenizer, recipe) for name, (model, recipe) in adapters.items()}
    signatures = {name: _signature(served) for name, served in parts.items()}
    _check_inputs(signatures, tasks[0].signature)
    first, own = next(iter(parts.values())), next(iter(signatures.values()))
    for name, served in parts.items():
        model = adapters[name][0]
        share_base(model, held)
        variables.update({id(each.value): each.value for each in _served_weights(model)})
        asks[name] = functools.partial(signatures[name].function, served)
    routed = route(asks, [1 + (name in own.lists) for name in own.inputs])
    signature = dataclasses.replace(
        own,
        function=lambda served, *given: routed(*given),
        inputs={**own.inputs, INPUT: "name of the adapter that answers"},
        example={**own.example, INPUT: next(iter(adapters))},
    )
    said = {name: json.loads(recipe.to_json()) for name, (_, recipe) in adapters.items()}
    with storage.whole_folder(directory) as folder:
        save_signatures(
            first, {first.task.signature: signature}, list(variables.values()), folder, {"adapters": said}
        )


def _check(adapters: Mapping[str, Adapted]) -> None:
    if not adapters:
        raise ValueError("no adapter is given")
    (first, (_, expected)), *others = adapters.items()
    for name, (model, recipe) in adapters.items():
        if packings_of(model, recipe.export.weights):
            raise ValueError(
                f"adapter {name}: export.weights: {recipe.export.weights}, but several adapters share "
                "weights of float32; export its run alone"
            )
    for name, (_, recipe) in others:
        if recipe.base.digest != expected.base.digest:
            raise ValueError(
                f"adapter {first} belongs to the base {expected.base.digest}, adapter {name} to "
                f"{recipe.base.digest}"
            )
        if recipe.task.signature != expected.task.signature:
            raise ValueError(
                f"adapter {first} answers {expected.task.signature}, adapter {name} {recipe.task.signature}"
            )


def _check_inputs(signatures: Mapping[str, Signature], asked: str) -> None:
    (first, expected), *others = ((name, _inputs(each)) for name, each in signatures.items())
    for name, found in others:
        if found != expected:
            raise ValueError(
                f"adapter {first} answers {asked} with the inputs {expected}, adapter {name} with {found}; "
                "one model is asked with the same inputs, so export each adapter's run alone"
            )


def _inputs(signature: Signature) -> str:
    """Returns the names of a signature's inputs, and the names that each of them takes, if it takes some."""
    taken = {name: f" ({' or '.join(each)})" for name, each in signature.choices.items()}
    return ", ".join(name + taken.get(name, "") for name in signature.inputs)


def _signature(served: Served) -> Signature:
    return text_signatures(served.recipe, served.tokenizer.mask_token)[served.task.signature]


def _served_weights(model: BackboneWithHeads) -> list[keras.Variable]:
    """Returns a model's variables without what methods keep for training alone."""
    of_training = {id(each) for each in model.added.weights if not each.trainable}
    return [each for each in model.variables if id(each) not in of_training]
