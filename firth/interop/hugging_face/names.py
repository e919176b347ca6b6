"""The names that a checkpoint has for the tensors of a model."""

from collections.abc import Sequence

from firth.interop.hugging_face.checkpoint.tensors import Tensors
from firth.interop.hugging_face.family import Family
from firth.interop.hugging_face.rules import Rule

# Older checkpoints call a norm's weights as TensorFlow did.
_OLDER = {".gamma": ".weight", ".beta": ".bias"}


def named(family: Family, rules: Sequence[Rule], tensors: Tensors) -> Tensors:
    """Returns a checkpoint's tensors by the names of rules.

    A base model's lack the family's name in front, and a tied table may have the name of any of its copies.
    """
    names = {_newer(name): name for name in tensors}
    prefix = f"{family.base}."
    if not any(name.startswith(prefix) for name in names):
        of_rules = {name for rule in rules for name in rule.theirs} | set(family.copies.values())
        whole = {name.removeprefix(prefix): name for name in of_rules}
        names = {whole.get(name, name): there for name, there in names.items()}
    # An output table of its own has the name of a copy.
    read = {name for rule in rules for name in rule.theirs}
    for copy, table in family.copies.items():
        if copy in names and table not in names and copy not in read:
            names[table] = names.pop(copy)
    return tensors.renamed(names)


def _newer(name: str) -> str:
    for ending, newer in _OLDER.items():
        if name.endswith(ending):
            return name.removesuffix(ending) + newer
    return name
