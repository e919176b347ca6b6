"""Names of other libraries that users type here, with ours; errors hold them."""

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from firth.recipes.base.errors import suggest

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
# Keywords of KerasHub, transformers and sentence-transformers, each with what is typed here. Functions give a
# hint that names arguments, such as `epochs=`, if they have them.
_VECTORS = ("vectors are numpy arrays",)
_DEVICE = ("the device is that of Keras's backend",)
_LABELS = ("the labels are those of the records",)
_LENGTH = ("the recipe's sequences.length is the most tokens of a row",)
_RATE = ("learning_rate= takes it", "overrides={'training.optimizer.learning_rate': ...} is its place")
_EPOCHS = ("epochs= takes it", "steps= is the length of a training")
_BATCH_SIZE = ("batch_size= takes it", "overrides={'training.batch_size': ...} is its place")
_HINTS: dict[str, tuple[str, ...]] = {
    "convert_to_numpy": _VECTORS,
    "convert_to_tensor": _VECTORS,
    "device": _DEVICE,
    "device_map": _DEVICE,
    "eval_dataset": ("eval= takes it",),
    "evaluation_strategy": ("overrides={'training.eval_every_steps': ...} is its place",),
    "id2label": _LABELS,
    "label2id": _LABELS,
    "load_weights": ("firth.create makes a model with random weights",),
    "lr": _RATE,
    "max_length": _LENGTH,
    "max_seq_length": _LENGTH,
    "max_steps": ("steps= takes it", "epochs= takes it"),
    "num_classes": _LABELS,
    "num_epochs": _EPOCHS,
    "num_labels": _LABELS,
    "num_train_epochs": _EPOCHS,
    "output_dir": ("folder= takes it",),
    "padding": ("rows are padded to the longest of the batch",),
    "peft_config": ("method= takes it, such as method='lora'",),
    "per_device_train_batch_size": _BATCH_SIZE,
    "preset": ("it is the first argument",),
    "quantization_config": ("dtype= chooses a dtype", "firth.load chooses a dtype"),
    "return_tensors": ("features are tensors of Keras's backend",),
    "show_progress_bar": ("verbose= shows one", "trainings alone show one"),
    "torch_dtype": ("dtype= takes it", "firth.load chooses a dtype"),
    "train_dataset": ("train= takes it", "texts= takes it"),
    "trust_remote_code": ("no code of a folder is run",),
    "truncation": ("texts are cut to the recipe's sequences.length",),
    "warmup_steps": ("overrides={'training.optimizer.warmup_steps': ...} is its place",),
    "weight_decay": ("overrides={'training.optimizer.weight_decay': ...} is its place",),
}
_ARGUMENT = re.compile(r"(\w+)=")


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
            hints = (each for each in _HINTS.get(name, ()) if known.keys() >= {*_ARGUMENT.findall(each)})
            hint = next(hints, "") or suggest(name, [each for each in known if each != "self"])
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
