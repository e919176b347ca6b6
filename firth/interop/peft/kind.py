"""Base type of the kinds of adapters that both libraries have."""

import abc
import pathlib
from collections.abc import Mapping
from typing import Any, TypeAlias

from firth.interop.hugging_face.rules import Array
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.base.yaml_text import read_yaml
from firth.recipes.run.run_recipe import RunRecipe
from firth.storage.tensor_files import TensorFile

Config: TypeAlias = Mapping[str, Any]
Tensors: TypeAlias = Mapping[str, Array]
_FILE = pathlib.Path(__file__).with_name("settings.yaml")
SETTINGS: dict[str, Any] = read_yaml(_FILE.read_text(encoding="utf-8"), str(_FILE)).data
"""Names of known settings by kind of adapters, and the plain values of LoRA's."""


class PeftKind(abc.ABC):
    """A kind of adapters: how a folder of peft's becomes additions to a model, and additions such a folder.

    Attributes:
        peft_type: Its name in `adapter_config.json`.
        chosen_by: Settings that tell it from other kinds of this name, with the values that it has.
        plain: Settings that change what it computes, with the values that are read here.
        known: Settings that are read, or that change nothing of what a saved adapter computes.
    """

    peft_type: str
    chosen_by: Config
    plain: Config
    known: frozenset[str]

    def is_of(self, config: Config) -> bool:
        """Returns whether an adapter is of this kind."""
        same = (config.get(key, value) == value for key, value in self.chosen_by.items())
        return config.get("peft_type") == self.peft_type and all(same)

    def refused(self, config: Config) -> str:
        """Returns a line about the first setting that cannot be expressed here, or an empty text.

        A setting that is not known must be empty: a newer peft may compute something else with it.
        """
        for key, value in config.items():
            wanted = self.plain.get(key)
            if key in self.plain and value != wanted and (value or wanted):
                return f"{key}: {value!r} cannot be expressed here, {wanted!r} can"
            if key not in {*self.plain, *self.chosen_by, *self.known, *SETTINGS["origin"]} and value:
                return f"{key}: {value!r} is not known here, so that the adapter might compute something else"
        return ""

    @abc.abstractmethod
    def take_in(
        self, model: BackboneWithHeads, recipe: RunRecipe, config: Config, file: TensorFile
    ) -> tuple[Any, tuple[str, ...]]:
        """Adds an adapter to a model; returns the method that adds such ones, and tensors that were not read.

        Raises:
            InteropError: for what cannot be expressed here, or does not fit the model.
            TuningError: if the model has no place for it.
        """

    @abc.abstractmethod
    def give_out(
        self, model: BackboneWithHeads, recipe: RunRecipe, method: Any
    ) -> tuple[dict[str, Any], dict[str, Array]]:
        """Returns the settings and tensors of a model's additions, without those that all kinds have.

        Raises:
            InteropError: for additions that peft does not have.
        """
