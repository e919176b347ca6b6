"""Imports TensorFlow without optional packages that it or Keras would load."""

import contextlib
import sys
from collections.abc import Iterator

# Keras and TensorFlow work without these. Loading them takes a third of the time of `import tensorflow`.
# `isolated_check` has the same list, since it loads nothing of firth.
OPTIONAL = ("IPython", "googleapiclient", "matplotlib", "pandas", "sklearn")


@contextlib.contextmanager
def without_optional_packages() -> Iterator[None]:
    """Makes those packages look absent while the block imports TensorFlow, to ask a model and no more.

    What is loaded already stays as it is.
    """
    hidden = [] if "tensorflow" in sys.modules else [name for name in OPTIONAL if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        for name in hidden:
            sys.modules.pop(name, None)
