"""The export: a trained model as a SavedModel that answers raw strings."""

import functools
import importlib.metadata
import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import keras
import numpy.typing as npt
import tensorflow as tf

from firth import storage
from firth.features import evaluation_sums, is_over_vocabulary
from firth.recipes.run.run_recipe import RunRecipe
from firth.serving import score_tokens
from firth.serving.evaluate import evaluator, unigram_log_probabilities
from firth.serving.exported_model import DESCRIPTION, FOLDER
from firth.serving.parameter import WITH_PARAMETERS
from firth.serving.schemas.export import describe_schemas, write_automata
from firth.serving.served_model import Served
from firth.serving.signature import (
    EVALUATE,
    OTHER_SIGNATURES,
    PREDICT_EXAMPLES,
    Signature,
    describe_on_examples,
    describe_signature,
)
from firth.serving.signatures import text_signatures
from firth.serving.slots.requests import idle_requests
from firth.serving.slots.signatures import SlotSignatures
from firth.serving.slots.tokenizer_description import describe_tokenizer, write_token_bytes
from firth.serving.stored_weights.weights import (
    HeldWeights,
    PackedWeights,
    StreamedWeights,
    describe_weights,
    model_weights,
)
from firth.serving.warmup import Request, warmup_requests, write_warmup
from firth.storage.tensor_files import TensorFile
from firth.tokenizers.storage import AnyTokenizer

_TEXT = "text"
PACKAGES = ("firth", "tensorflow", "tensorflow-text", "keras", "keras-hub")

Bind: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]


def export(
    model: keras.Model,
    tokenizer: AnyTokenizer,
    recipe: RunRecipe,
    unigram_counts: npt.NDArray[Any] | None,
    directory: str,
    rows: Sequence[bytes] = (),
) -> None:
    """Writes a SavedModel that needs nothing but TensorFlow and tensorflow-text to answer.

    Signatures: those of `text_signatures` on strings, of which the first is also `serving_default`, and
    `evaluate` on `examples` (string [batch], serialized rows). A causal LM has `score_tokens` on ids. A task
    also has `predict_examples`, its own signature on `examples` whose features are the texts by input, as
    TFX's BulkInferrer asks; what is one value a record has the shape [batch, 1] there. Tasks of classes and
    of numbers have `classify_examples` and `regress_examples` on `inputs`, as TF Serving's Classify and
    Regress ask. `assets.extra` holds TF Serving's warm-up requests, the bytes of the tokens of a model with
    slots, which constraints read, and `firth.json`, which `firth.serving.read_description` reads: the
    signatures, the recipe, the tokenizer's digest and the versions of what made it. Weights are stored as
    `recipe.export.weights` says.

    The directory appears whole or not at all.

    Args:
        model: Trained model of `firth.models.build_model`.
        tokenizer: Tokenizer of `firth.tokenizers`; its vocabulary becomes a part of the graph.
        recipe: Recipe of the run.
        unigram_counts: Number of occurrences of each piece in the training split, int64 [rows]; None where
            no corpus is known, and for a goal whose main loss does not run over the vocabulary. The former
            has no signature `evaluate`.
        directory: Folder that does not exist yet, or is empty, on any file system.
        rows: Serialized held-out rows, on which the loss by weights of another type is measured.

    Raises:
        FileExistsError: if the directory holds something.
        ValueError: if counts, tokenizer and recipe do not fit together, or a weight cannot be stored so.
    """
    _check(tokenizer, recipe)
    weights = model_weights(model, recipe.export.weights)
    with storage.whole_folder(directory) as folder:
        _write(Served(model, tokenizer, recipe), unigram_counts, folder, weights, rows)


def export_streamed(
    outline: keras.Model, file: TensorFile, tokenizer: AnyTokenizer, recipe: RunRecipe, directory: str
) -> None:
    """Writes a SavedModel as `export` does, of weights in a file, which are never held together.

    It has no signature `evaluate`.

    Raises:
        FileExistsError: if the directory holds something.
        firth.models.BundleError: if the weights are not those of the outline.
        ValueError: if tokenizer and recipe do not fit together, or a weight cannot be stored so.
    """
    _check(tokenizer, recipe)
    weights = StreamedWeights(outline, file, recipe.export.weights)
    with storage.whole_folder(directory) as folder:
        _write(Served(outline, tokenizer, recipe), None, folder, weights)


def _check(tokenizer: AnyTokenizer, recipe: RunRecipe) -> None:
    pieces, rows = tokenizer.vocabulary_size(), recipe.tokenizer.vocabulary_size
    if pieces > rows:
        raise ValueError(
            f"the tokenizer has {pieces} pieces, the model {rows} rows (tokenizer.vocabulary_size)"
        )


def _write(
    served: Served,
    unigram_counts: npt.NDArray[Any] | None,
    directory: str,
    weights: HeldWeights | PackedWeights | StreamedWeights,
    rows: Sequence[bytes] = (),
) -> None:
    unigram = None
    if unigram_counts is not None:
        unigram = unigram_log_probabilities(unigram_counts, served.tokenizer.vocabulary_size())
    module = tf.Module()
    module.model_variables = weights.variables
    # Word vocabularies have none: an exported model reads their characters.
    module.tokenizer_kernel = served.tokenizer.kernel
    # Signatures take strings and are asked, not trained; gradients would double the functions of the graph.
    options = tf.saved_model.SaveOptions(
        experimental_custom_gradients=False, experimental_sharding_callback=weights.sharding
    )
    schemas = describe_schemas(served)
    functions = _signatures(served, unigram, weights.bind)
    count, description = served.recipe.export.warmup_requests, _description(served, unigram)
    description |= _described(offered_signatures(served), functions)
    if schemas:
        description["schemas"] = schemas
    warmup = warmup_requests(served, count, EVALUATE in functions)
    if score_tokens.is_offered(served.recipe):
        functions[score_tokens.NAME] = tf.function(
            weights.bind(functools.partial(score_tokens.score_tokens, served)),
            input_signature=score_tokens.SIGNATURE.specs,
            autograph=False,
        )
        description["other_signatures"][score_tokens.NAME] = score_tokens.SIGNATURE.describe()
        first = next(score_tokens.requests(description))
        warmup += [first.request] * bool(count)
    if served.recipe.export.slots:
        slots = SlotSignatures(served, weights.bind)
        module.slots = slots.kept.variables
        functions |= slots.functions()
        description["slots"] = slots.describe()
        description["other_signatures"] |= slots.describe_signatures()
        warmup += idle_requests(slots.describe()) if count else []
    tf.saved_model.save(module, directory, signatures=_traced(functions), options=options)
    write_warmup(directory, warmup)
    if served.recipe.export.slots:
        write_token_bytes(directory, slots.token_bytes)
    # TF Serving joins the requests of all signatures of a model. Those of slots must come one by one, and
    # lists of other lengths do not fit one tensor: it would pad them with their first text. What it pads rows
    # of tokens with is not read.
    if not served.recipe.export.slots and not any(each.lists for each in offered_signatures(served).values()):
        write_batching(directory, score_tokens.NAME in functions)
    write_automata(served, directory)
    description["weights"] = describe_weights(served, weights, rows)
    storage.write_json(os.path.join(directory, FOLDER, DESCRIPTION), description)


def save_signatures(
    served: Served,
    signatures: Mapping[str, Signature],
    variables: Sequence[tf.Variable],
    folder: str,
    said: Mapping[str, Any],
) -> None:
    """Writes a SavedModel of some signatures alone, of which the first is also `serving_default`."""
    module = tf.Module()
    module.model_variables = list(variables)
    module.tokenizer_kernel = served.tokenizer.kernel
    functions = {name: _text_function(served, each) for name, each in signatures.items()}
    functions[tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY] = next(iter(functions.values()))
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    tf.saved_model.save(module, folder, signatures=_traced(functions), options=options)
    requests = [
        Request(name, {key: [_encoded(text)] for key, text in each.example.items()})
        for name, each in signatures.items()
    ]
    write_warmup(folder, requests[: served.recipe.export.warmup_requests])
    if not any(each.lists for each in signatures.values()):
        write_batching(folder)
    description = {**_description(served, None), **_described(signatures, functions), **said}
    description["evaluation_sums"] = []
    storage.write_json(os.path.join(folder, FOLDER, DESCRIPTION), description)


def _encoded(text: str | Sequence[str]) -> bytes | list[bytes]:
    return text.encode() if isinstance(text, str) else [each.encode() for each in text]


def _traced(functions: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the graphs of functions, which are saved.

    `tf.saved_model.save` traces a `tf.function` again, though it was traced to be described: the function's
    cache keeps what is traced during a save apart from the rest.
    """
    return {name: each.get_concrete_function() for name, each in functions.items()}


def _text_function(served: Served, signature: Signature, bind: Bind = lambda function: function) -> Any:
    numbers = [tf.TensorSpec([None], each.dtype, name=key) for key, each in signature.parameters.items()]
    return tf.function(
        bind(functools.partial(signature.function, served)),
        input_signature=[*_texts(signature), *numbers],
        autograph=False,
    )


def _texts(signature: Signature) -> list[tf.TensorSpec]:
    sizes = {name: [None] * (1 + (name in signature.lists)) for name in signature.inputs}
    return [tf.TensorSpec(sizes[name], tf.string, name=name) for name in signature.inputs]


def _with_defaults(function: Any, signature: Signature) -> Any:
    """Returns a function of texts alone, which asks a signature with its defaults; the graph is the same."""

    def asked(*texts: tf.Tensor) -> dict[str, tf.Tensor]:
        defaults = (tf.constant(each.default, each.dtype) for each in signature.parameters.values())
        return function(*texts, *(tf.fill(tf.shape(texts[0])[:1], each) for each in defaults))

    return tf.function(asked, input_signature=_texts(signature), autograph=False)


def text_functions(
    served: Served, offered: Mapping[str, Signature], bind: Bind = lambda function: function
) -> dict[str, Any]:
    """Returns the functions of signatures on texts by name, each traced when it is first called.

    One with parameters has two: of texts alone, with its defaults, and `WITH_PARAMETERS` after its name.
    """
    whole = {name: _text_function(served, each, bind) for name, each in offered.items()}
    with_numbers = {
        f"{name}{WITH_PARAMETERS}": whole[name] for name, each in offered.items() if each.parameters
    }
    of_texts = {
        name: _with_defaults(function, offered[name]) if offered[name].parameters else function
        for name, function in whole.items()
    }
    return {**of_texts, **with_numbers}


def offered_signatures(served: Served) -> dict[str, Signature]:
    """Returns the signatures of a model on texts by name."""
    return text_signatures(served.recipe, served.tokenizer.mask_token)


def _signatures(served: Served, unigram: npt.NDArray[Any] | None, bind: Bind) -> dict[str, Any]:
    offered = offered_signatures(served)
    functions = text_functions(served, offered, bind)
    functions[tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY] = next(iter(functions.values()))
    examples = tf.TensorSpec([None], tf.string, name="examples")
    if (asked := getattr(served.recipe.goal, "signature", "")) in functions:
        functions[PREDICT_EXAMPLES] = tf.function(
            functools.partial(_of_examples, served, functions[asked], offered[asked]),
            input_signature=[examples],
            autograph=False,
        )
        for name, outputs in _FOR_TF_SERVING.items():
            if set(outputs.values()) <= offered[asked].outputs.keys():
                functions[name] = tf.function(
                    functools.partial(_named_otherwise, served, functions[asked], offered[asked], outputs),
                    input_signature=[tf.TensorSpec([None], tf.string, name="inputs")],
                    autograph=False,
                )
    if _is_evaluated(served, unigram):
        functions[EVALUATE] = tf.function(
            bind(evaluator(served, unigram)), input_signature=[examples], autograph=False
        )
    return functions


# Outputs that TF Serving's Classify and Regress read, by signature, and those of the task's own one.
_FOR_TF_SERVING = {
    "classify_examples": {"classes": "labels", "scores": "probabilities"},
    "regress_examples": {"outputs": "value"},
}


def _named_otherwise(
    served: Served, function: Any, signature: Signature, outputs: Mapping[str, str], inputs: tf.Tensor
) -> dict[str, tf.Tensor]:
    """Asks a signature about serialized examples, and returns some of its outputs by other names."""
    found = _of_examples(served, function, signature, inputs)
    return {name: found[own] for name, own in outputs.items()}


def _of_examples(
    served: Served, function: Any, signature: Signature, examples: tf.Tensor
) -> dict[str, tf.Tensor]:
    """Asks a signature about the texts in serialized examples, each in the feature of its input.

    An input that takes names may be left out, and a list where the feature `text` becomes one.
    """
    features = {
        name: tf.io.RaggedFeature(tf.string)
        if name in signature.lists
        else tf.io.FixedLenFeature([], tf.string, default_value="" if name in signature.choices else None)
        for name in signature.inputs
    }
    if signature.from_text is not None:
        features[_TEXT] = tf.io.FixedLenFeature([], tf.string, default_value="")
    found = tf.io.parse_example(examples, features)
    lists = {name: found[name].with_row_splits_dtype(tf.int64) for name in signature.lists}
    if signature.from_text is not None:
        for name, each in lists.items():
            text = tf.where(tf.equal(each.row_lengths(), 0), found[_TEXT], "")
            lists[name] = tf.concat([signature.from_text(served, text), each], axis=1)
    texts = {**found, **{name: each.to_tensor("") for name, each in lists.items()}}
    outputs = function(*(texts[name] for name in signature.inputs))
    # BulkInferrer takes no strings without an axis of their own: it asks Python's bytes for a dtype.
    return {key: each[:, tf.newaxis] if each.shape.rank == 1 else each for key, each in outputs.items()}


def _is_evaluated(served: Served, unigram: npt.NDArray[Any] | None) -> bool:
    return unigram is not None or not is_over_vocabulary(served.recipe.goal.loss_classes)


def _described(offered: Mapping[str, Signature], functions: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the descriptions of all signatures."""
    whole = {name: functions.get(f"{name}{WITH_PARAMETERS}", functions[name]) for name in offered}
    others = [name for name in OTHER_SIGNATURES if name in functions]
    return {
        "signatures": {name: describe_signature(each, whole[name]) for name, each in offered.items()},
        "other_signatures": {name: describe_on_examples(name, functions[name]) for name in others},
    }


def _description(served: Served, unigram: npt.NDArray[Any] | None) -> dict[str, Any]:
    losses = served.recipe.goal.loss_classes
    versions = {package: importlib.metadata.version(package) for package in PACKAGES}
    return {
        "recipe": json.loads(served.recipe.to_json()),
        "tokenizer_digest": served.tokenizer.digest,
        "tokenizer": describe_tokenizer(served.tokenizer, served.recipe),
        "row_length": served.row_length,
        "evaluation_sums": list(evaluation_sums(losses)) if _is_evaluated(served, unigram) else [],
        "versions": {"python": platform.python_version(), **versions},
    }


FILE = "batching_parameters.txt"

# Fields of TF Serving's `BatchingParameters`. Graphs take batches of any size, so that none is padded to one
# that is allowed, and a text is one value, so that only rows of tokens are padded.
PARAMETERS = {
    # Requests' rows that are answered together at most.
    "max_batch_size": 32,
    # What a request waits for others at most: less than a small model needs for a batch.
    "batch_timeout_micros": 2_000,
    # Batches that are computed at once. Each also uses the session's own threads.
    "num_batch_threads": 4,
    # Batches that may wait; a request that comes later is refused at once.
    "max_enqueued_batches": 100,
}


def batching_text(pads: bool = False) -> str:
    """Returns the parameters as the text of a protocol buffer.

    Args:
        pads: Whether inputs of different lengths are padded to be joined; otherwise they are refused.

    Example:

    >>> print(batching_text().splitlines()[0])
    max_batch_size { value: 32 }
    """
    lines = "".join(f"{name} {{ value: {value} }}\n" for name, value in PARAMETERS.items())
    return f"{lines}pad_variable_length_inputs: true\n" if pads else lines


def write_batching(directory: str, pads: bool = False) -> None:
    """Writes the parameters into the folder of a SavedModel, next to the warm-up requests."""
    storage.write_text(os.path.join(directory, FOLDER, FILE), batching_text(pads))
