"""The form in which components declare their inputs, outputs and parameters."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tfx import types
from tfx.dsl.components.base import base_beam_component, base_component, executor_spec
from tfx.types import Artifact
from tfx.types.component_spec import ChannelParameter, ComponentSpec, ExecutionParameter

Types = Mapping[str, Any]
_NOTHING: Types = MappingProxyType({})
# Artifacts by the name of the input or output.
Artifacts = dict[str, list[Artifact]]
# Values by the name of the parameter.
Properties = dict[str, Any]


def declare(
    outputs: Types,
    inputs: Types = _NOTHING,
    parameters: Types = _NOTHING,
    optional_inputs: Types = _NOTHING,
    optional_outputs: Types = _NOTHING,
) -> type[ComponentSpec]:
    """Returns the specification that TFX asks for as `SPEC_CLASS`. No input has the name of an output.

    Example:

    >>> from tfx.types.standard_artifacts import Schema
    >>> sorted(declare(outputs={"schema": Schema}, parameters={"digest": str}).OUTPUTS)
    ['schema']
    """
    members = {
        "PARAMETERS": {name: ExecutionParameter(type=each) for name, each in parameters.items()},
        "INPUTS": _channels(inputs, optional_inputs),
        "OUTPUTS": _channels(outputs, optional_outputs),
    }
    return type("Spec", (ComponentSpec,), members)


def _channels(required: Types, optional: Types) -> dict[str, ChannelParameter]:
    return {
        name: ChannelParameter(type=each, optional=name in optional)
        for name, each in {**required, **optional}.items()
    }


class _Declared:
    SPEC_CLASS: Any
    EXECUTOR_SPEC: Any
    _runs: Any = executor_spec.ExecutorClassSpec

    def __init_subclass__(cls, executor: type | None = None, **others: Any) -> None:
        super().__init_subclass__(**others)
        if executor is not None:
            cls.EXECUTOR_SPEC = cls._runs(executor)

    def __init__(self, **given: Any) -> None:
        made = {
            name: types.Channel(type=output.type)
            for name, output in self.SPEC_CLASS.OUTPUTS.items()
            if not output.optional
        }
        super().__init__(spec=self.SPEC_CLASS(**made, **given))  # type: ignore[call-arg]


class Component(_Declared, base_component.BaseComponent):
    """Base of the components without Beam. It makes a channel for each output that is not optional.

    A subclass names its executor as an argument of the class: `class Curator(Component, executor=Executor)`.

    Args:
        **given: Channels of the inputs and values of the parameters, by name.
    """


class BeamComponent(_Declared, base_beam_component.BaseBeamComponent):
    """The same for components whose executors run Beam pipelines.

    Args:
        **given: Channels of the inputs and values of the parameters, by name.
    """

    _runs = executor_spec.BeamExecutorSpec


def only_artifact(inputs: Artifacts, name: str) -> Artifact:
    """Returns the artifact of an input that takes one.

    Example:

    >>> only_artifact({"examples": []}, "examples")
    Traceback (most recent call last):
    ValueError: examples: this input takes one artifact, and none came in
    """
    found = inputs.get(name, [])
    if len(found) != 1:
        came = f"{len(found)} came in: {', '.join(each.uri for each in found)}" if found else "none came in"
        raise ValueError(f"{name}: this input takes one artifact, and {came}")
    return found[0]
