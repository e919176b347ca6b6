"""Names of other libraries that users type here, with ours; errors hold them."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from firth.recipes.base.errors import suggest

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
# Keywords of KerasHub, transformers and sentence-transformers.
_KEYWORDS = {
    "convert_to_numpy": "vectors are numpy arrays",
    "convert_to_tensor": "vectors are numpy arrays",
    "device": "the device is that of Keras's backend",
    "device_map": "the device is that of Keras's backend",
    "eval_dataset": "eval= takes it",
    "evaluation_strategy": "overrides={'training.eval_every_steps': ...} is its place",
    "id2label": "the labels are those of the records",
    "label2id": "the labels are those of the records",
    "load_weights": "firth.create makes a model with random weights",
    "lr": "learning_rate= takes it",
    "max_length": "the recipe's sequences.length is the most tokens of a row",
    "max_seq_length": "the recipe's sequences.length is the most tokens of a row",
    "max_steps": "epochs= of records, or steps= of raw text, takes it",
    "num_classes": "the labels are those of the records",
    "num_epochs": "epochs= takes it",
    "num_labels": "the labels are those of the records",
    "num_train_epochs": "epochs= takes it",
    "output_dir": "folder= takes it",
    "padding": "rows are padded to the longest of the batch",
    "peft_config": "method= takes it, such as method='lora'",
    "per_device_train_batch_size": "batch_size= takes it",
    "preset": "it is the first argument",
    "quantization_config": "firth.load(folder, dtype=...) chooses a dtype",
    "return_tensors": "features are tensors of Keras's backend",
    "show_progress_bar": "verbose= of a training shows one",
    "torch_dtype": "dtype= takes it",
    "train_dataset": "train= takes it",
    "trust_remote_code": "no code of a folder is run",
    "truncation": "texts are cut to the recipe's sequences.length",
    "warmup_steps": "overrides={'training.optimizer.warmup_steps': ...} is its place",
    "weight_decay": "overrides={'training.optimizer.weight_decay': ...} is its place",
}


def own_keywords(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Returns a function whose error for an unknown keyword holds ours, or the nearest.

    Example:

    >>> own_keywords(lambda texts, epochs=1: texts)([], num_train_epochs=2)
    Traceback (most recent call last):
    ...
    TypeError: <lambda> has no argument 'num_train_epochs': epochs= takes it
    """
    known = inspect.signature(function).parameters

    @functools.wraps(function)
    def checked(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        for name in kwargs.keys() - known.keys():
            hint = _KEYWORDS.get(name) or suggest(name, [each for each in known if each != "self"])
            raise TypeError(f"{function.__name__} has no argument {name!r}: {hint}")
        return function(*args, **kwargs)

    return checked


class OtherName:
    """An attribute that other libraries have: reading it is an AttributeError with ours.

    Args:
        ours: What is typed here.
    """

    def __init__(self, ours: str) -> None:
        self._ours, self._name = ours, ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Raises AttributeError, which Python takes for an attribute that is missing."""
        kind = "" if owner is None else f"{owner.__name__} "
        raise AttributeError(f"{kind}has no {self._name!r}: {self._ours} is its name here")
