"""Types of the front door's arguments and answers, which need neither TensorFlow nor pandas."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, Union

import keras
import numpy as np
import numpy.typing as npt

from firth.layers.elements.types import Tensor as Tensor

if TYPE_CHECKING:
    from firth.language_model.model import LanguageModel
    from firth.tokenizers.storage import AnyTokenizer


class DataFrame(Protocol):
    """A table of pandas, or one with its methods."""

    @property
    def columns(self) -> object:
        """Names of the columns."""


class Dataset(Protocol):
    """A table of `datasets`, whole or streamed."""

    @property
    def column_names(self) -> object:
        """Names of the columns."""

    def __iter__(self) -> Iterator[object]:
        """Yields the rows."""


class TensorDataset(Protocol):
    """A `tf.data.Dataset`."""

    @property
    def element_spec(self) -> object:
        """Shapes and dtypes of an element."""

    def as_numpy_iterator(self) -> Iterator[object]:
        """Yields the elements."""


class ArrayOfTexts(Protocol):
    """A tensor of texts."""

    def numpy(self) -> object:
        """Returns its values."""


# The path of a file or folder.
Path: TypeAlias = str | os.PathLike[str]
# Rows by one of the types that people have: a list, columns, a table, a dataset.
Rows: TypeAlias = (
    Iterable[object] | Mapping[str, Sequence[object]] | DataFrame | Dataset | TensorDataset | ArrayOfTexts
)
# Texts: a list of str, rows with a column of texts, or a path.
Texts: TypeAlias = Path | Rows
# Records as dicts or as pairs of text and label, or the path of a file of them.
LabelledRecords: TypeAlias = Path | Rows
# Features by name, batched, or batches of these.
Features: TypeAlias = Mapping[str, Tensor]
# Labels of texts, or of features nothing.
Labels: TypeAlias = Sequence[object] | ArrayOfTexts
# Means over data: the loss, or all means, by their order or name.
Losses: TypeAlias = float | list[float] | dict[str, float]
# Data of `fit` and `evaluate`: texts, records, or features.
TrainingData: TypeAlias = Texts | LabelledRecords | Features
# Texts of an input of a signature, its words, or numbers by parameter.
Inputs: TypeAlias = Sequence[str] | Sequence[Sequence[str]] | Mapping[str, object]
# The answer of a signature to a text, by field, such as `label` and `probability`.
Answer: TypeAlias = dict[str, object]
# Logits of each loss, by its name.
Logits: TypeAlias = dict[str, npt.NDArray[np.float32]]
# Values of a recipe by key, or texts as of `--set`.
Overrides: TypeAlias = Mapping[str, object] | Sequence[str]
# A Keras dtype or policy.
DType: TypeAlias = Union[str, "keras.DTypePolicy", None]
# A tokenizer, its folder, or a model whose tokenizer is taken.
TokenizerSource: TypeAlias = "AnyTokenizer | LanguageModel | Path | None"
# A kind of method, or a mapping of its values with its kind.
Method: TypeAlias = str | Mapping[str, object]
# A config of Keras, fit for JSON.
Config: TypeAlias = dict[str, object]
