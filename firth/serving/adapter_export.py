"""The export of a base with several adapters."""

import dataclasses
import functools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import keras
import tensorflow as tf

from firth import storage
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.bundle_weights import share_base
from firth.recipes.run.adapting import AdaptingRecipe
from firth.serving.saved_model import save_signatures
from firth.serving.served_model import Served
from firth.serving.signature import Signature
from firth.serving.signatures import text_signatures
from firth.serving.stored_weights.weight_types import stored_weights_of
from firth.tokenizers.storage import AnyTokenizer, apply_template

INPUT = "adapter"
Adapted = tuple[BackboneWithHeads, AdaptingRecipe]


def export_adapters(adapters: Mapping[str, Adapted], tokenizer: AnyTokenizer, directory: str) -> None:
    """Writes a SavedModel of one base and several adapters, of which the input `adapter` chooses.

    It has the signature of their task, also as `serving_default`, with the names of adapters, string [batch],
    as one more input. Records of a batch may name different ones; an unknown name is an error. The weights of
    the base are held once, and no adapter is merged, so that methods which do not merge are served too.
    There are no slots, whatever `export.slots` says.

    Raises:
        FileExistsError: if the directory holds something.

    Example: see `tests/serving/adapter_export_test.py`.
    """
    _check(adapters)
    tasks = [recipe.task for _, recipe in adapters.values()]
    templates = [task.template_with(tokenizer.chat_template) for task in tasks]
    if any(each != templates[0] for each in templates):
        raise ValueError("the adapters write dialogues with other chat templates; export each of them alone")
    tokenizer = apply_template(tokenizer, tasks[0])
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
        if stored_weights_of(model, recipe.export.weights):
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
                "one model has the same inputs for all adapters, so export each adapter's run alone"
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


# From one string [batch] tensor for each input to tensors by name, whose first axis is the batch.
Ask: TypeAlias = Callable[..., dict[str, tf.Tensor]]


def route(asks: Mapping[str, Ask], ranks: Sequence[int]) -> Ask:
    """Returns the function that asks about each record the function that it names.

    It reads one input more, the last one: string [batch], names. Each function is asked once about all
    records that name it, and is not asked if no record does. An unknown name is an `InvalidArgumentError`.

    Raises:
        ValueError: if outputs differ, or their shapes do, or a shape is not known before texts are.
    """
    # Each is traced once, for what it answers with and for the graph that asks it.
    specs = [tf.TensorSpec([None] * rank, tf.string) for rank in ranks]
    functions = {name: tf.function(ask, specs, autograph=False) for name, ask in asks.items()}
    kinds: dict[str, dict[str, tf.TensorSpec]] = {}
    for name, each in functions.items():
        kinds[name] = _outputs(each)
        _check_routing(kinds)

    def routed(*given: tf.Tensor) -> dict[str, tf.Tensor]:
        *texts, named = given
        chosen = _places(tuple(asks), named)
        places, parts = [], []
        for number, (name, ask) in enumerate(functions.items()):
            own = tf.where(tf.equal(chosen, number))[:, 0]
            places.append(own)
            parts.append(_asked(ask, kinds[name], [tf.gather(text, own) for text in texts]))
        back = tf.math.invert_permutation(tf.concat(places, axis=0))
        return {name: tf.gather(tf.concat([each[name] for each in parts], axis=0), back) for name in parts[0]}

    return routed


def _asked(ask: Ask, outputs: Mapping[str, tf.TensorSpec], texts: Sequence[tf.Tensor]) -> Any:
    def nothing() -> dict[str, tf.Tensor]:
        return {name: tf.zeros([0, *each.shape[1:]], each.dtype) for name, each in outputs.items()}

    return tf.cond(tf.shape(texts[0])[0] > 0, lambda: ask(*texts), nothing)


def _outputs(function: Any) -> dict[str, tf.TensorSpec]:
    found = function.get_concrete_function().structured_outputs
    return {name: tf.TensorSpec(each.shape, each.dtype) for name, each in found.items()}


def _check_routing(kinds: Mapping[str, Mapping[str, tf.TensorSpec]]) -> None:
    (first, expected), *others = kinds.items()
    for name, each in expected.items():
        if not each.shape[1:].is_fully_defined():
            raise ValueError(
                f"the output {name} of adapter {first} is as long as its texts ask for, so that records of "
                "several adapters do not fit one tensor; export each adapter's run alone"
            )
    for name, found in others:
        if found != expected:
            differing = sorted(key for key in found.keys() | expected if found.get(key) != expected.get(key))
            shapes = {key: [_shape(each.get(key)) for each in (expected, found)] for key in differing}
            said = "; ".join(f"{key} is {one} and {other}" for key, (one, other) in shapes.items())
            raise ValueError(f"adapters {first} and {name} do not answer with the same outputs: {said}")


def _shape(spec: tf.TensorSpec | None) -> str:
    return "not there" if spec is None else str(spec.shape.as_list())


def _places(names: Sequence[str], named: tf.Tensor) -> tf.Tensor:
    """Returns the number of each record's adapter, int64 [batch]."""
    found = tf.equal(named[:, tf.newaxis], tf.constant(names)[tf.newaxis])
    is_known = tf.reduce_any(found, axis=1)
    said = [f"adapter: there are {', '.join(names)}; unknown:", tf.boolean_mask(named, ~is_known)]
    with tf.control_dependencies([tf.debugging.Assert(tf.reduce_all(is_known), said)]):
        return tf.argmax(tf.cast(found, tf.int32), axis=1)
