"""Base type of the families whose original checkpoints are imported and exported."""

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from firth.interop.errors import InteropError
from firth.interop.hugging_face.family import Family
from firth.interop.hugging_face.rules import Rule
from firth.interop.tensorflow.checkpoint import Checkpoint
from firth.interop.tensorflow.names import Names
from firth.interop.tensorflow.tokenizers import TokenizerFiles
from firth.interop.untrusted_files import read_mapping
from firth.recipes.goals.goal import Goal

Config = dict[str, Any]
# The end of the names of object checkpoints.
VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"
# Scopes below a base model's own.
_OF_BASE = ("embeddings/", "encoder/", "pooler/")
# Some checkpoints call a norm's weights as torch does.
_NORMS = {"/LayerNorm/weight": "/LayerNorm/gamma", "/LayerNorm/bias": "/LayerNorm/beta"}


@dataclasses.dataclass(frozen=True)
class Original:
    """A family of models as its authors published it.

    Attributes:
        title: Name for people.
        family: Its description in Hugging Face's format: the shapes, the rules and the heads are those.
        base: Scope of the base model, which ends with a slash.
        anchor: Name of a tensor that each model of the family has, below the base.
        names: Names and layouts of the tensors.
        files: Patterns of the files of its configuration.
        needed: Keys without which its configuration describes no model.
        checkpoint: Name of a checkpoint that is written.
        tokenizers: Files of its tokenizer, of each kind that it is published with.
        read_config: Function from its configuration and a checkpoint, if there is one, to one of Hugging
            Face's keys.
        write_config: Function back.
        written_config: Name of the file of a configuration that is written.
        read: Function from the path of a file to the configuration in it.
        write: Function from a configuration to the text of its file.
        needs_config: Whether a checkpoint needs a configuration next to it.
        needs_base: Whether a checkpoint without the base's scope is of another family.
        root: Scope before the base, which ends with a slash.
        outside: Scope of tensors that are not below the base's, which ends with a slash.
        part: Name of the model among those that one checkpoint may hold.
        fallbacks: Scopes whose tensors may be under other names, each with that scope.
        objective: Function from a checkpoint, the model and the family's objective to the one of its heads.
        more_rules: Function from a model and a goal to rules of further heads, by names in the format of
            Hugging Face.
        optional: Names of tensors that fine-tuned models lack; they are fresh then.
        refused: Pattern of names of tensors that no model here has.
        tokenizer_settings: Function from a configuration to settings of the tokenizer.
        task_names: Function from a checkpoint to the names that its rules have for the tensors of heads of a
            task, by those that it has.
        written_name: Function from a name of the rules and the name of a model to the name in its files.
    """

    title: str
    family: Family
    base: str
    anchor: str
    names: Names
    needed: tuple[str, ...]
    checkpoint: str
    tokenizers: tuple[TokenizerFiles, ...]
    files: tuple[str, ...] = ("*config.json",)
    read_config: Callable[[Config, Checkpoint | None], Config] = lambda config, checkpoint: config
    write_config: Callable[[Config], Config] = dict
    written_config: str = "bert_config.json"
    read: Callable[[str], Config] = read_mapping
    write: Callable[[Config], str] = lambda config: json.dumps(config, indent=2) + "\n"
    needs_config: bool = True
    needs_base: bool = True
    root: str = ""
    outside: str = ""
    part: str = ""
    fallbacks: Mapping[str, str] = dataclasses.field(default_factory=dict)
    objective: Callable[[Checkpoint, Any, Any], Any] = lambda checkpoint, model, objective: objective
    more_rules: Callable[[Any, Goal], Iterable[Rule]] = lambda model, goal: ()
    optional: tuple[str, ...] = ()
    refused: str = "$."
    tokenizer_settings: Callable[[Config], Config] = lambda config: {}
    task_names: Callable[[Checkpoint], Mapping[str, str]] = lambda checkpoint: {}
    written_name: Callable[[str, str], str] = lambda name, model: name

    def scope_in(self, names: Iterable[str]) -> str | None:
        """Returns the scope before the anchor in a checkpoint's names; None if there is no such name."""
        plain = [name.removesuffix(VALUE) for name in names]
        found = sorted(name.removesuffix(self.anchor) for name in plain if name.endswith(self.anchor))
        with_base = [scope for scope in found if f"/{scope}".endswith(f"/{self.base}")]
        return next(iter(with_base or ([] if self.needs_base else found)), None)

    def name_tensors(self, checkpoint: Checkpoint, scope: str) -> None:
        """Gives a checkpoint's tensors the names that the family has, without a scope in front."""
        has_base = f"/{scope}".endswith(f"/{self.base}")
        outer = scope.removesuffix(self.base) if has_base else scope
        names = {}
        for name in checkpoint.names:
            plain = name.removesuffix(VALUE)
            inner = plain.removeprefix(self.outside)
            if plain.startswith(outer):
                inner = plain.removeprefix(outer)
                is_of_base = not has_base and inner.startswith(_OF_BASE)
                inner = f"{self.root}{self.base if is_of_base else ''}{inner}"
            for newer, older in _NORMS.items():
                if inner.endswith(newer):
                    inner = inner.removesuffix(newer) + older
            names[inner] = name
            if re.search(self.refused, inner):
                raise InteropError(
                    f"{checkpoint.prefix}: {name} is of a model that {self.title} has not here"
                )
        for scope, other in self.fallbacks.items():
            if not any(name.startswith(scope) for name in names):
                found = {name: there for name, there in names.items() if name.startswith(other)}
                names |= {scope + name.removeprefix(other): there for name, there in found.items()}
        checkpoint.take_names(names)
        self.name_heads(checkpoint)

    def name_heads(self, checkpoint: Checkpoint) -> None:
        """Gives the tensors of heads of a task the names that the rules have."""
        of_tasks = self.task_names(checkpoint)
        checkpoint.take_names({of_tasks.get(name, name): name for name in checkpoint.names})

    def notes(self, model: Any) -> list[str]:
        """Returns sentences about the differences between the original's code and a model."""
        has_exact = "gelu" in (config := self.family.write_config(model)).values()
        computed = self.read_config(self.write_config(config), None)
        if has_exact and "gelu" not in computed.values():
            return ["feed_forward.activation: gelu is computed there by the formula of gelu_approximate"]
        return []

    def rules(self, model: Any, goal: Goal) -> list[Rule]:
        """Returns the rules of all weights of a model with heads that it has."""
        published = [*self.family.rules(model, goal), *self.more_rules(model, goal)]
        return list(self.names.rules(published, model))

    def published_names(self, names: Iterable[str]) -> set[str]:
        """Returns the names that a checkpoint's tensors have in Hugging Face's format."""
        return {found for name in names if (found := self.names.published(name))}

    def lacks(self, config: Mapping[str, Any]) -> list[str]:
        """Returns the keys that a configuration of this family needs and does not have."""
        return [key for key in self.needed if config.get(key) is None]


def fixed(family: Family, **values: Any) -> Family:
    """Returns a family in which keys have one value, since the original's configuration lacks them.

    It has no heads of tasks, whose names are not those of Hugging Face's format in each original.
    """
    of_keys = {
        field.ours: field.read(values[field.theirs]) for field in family.fields if field.theirs in values
    }
    return dataclasses.replace(
        family,
        fields=[field for field in family.fields if field.theirs not in values],
        always={**family.always, **of_keys},
        theirs_always={**family.theirs_always, **values},
        task_heads=(),
    )
