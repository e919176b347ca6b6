"""Checks of a compiled pipeline, read strictly as Kubeflow's own messages."""

import graphlib
import importlib

import yaml
from google.protobuf import json_format
from kfp.pipeline_spec import pipeline_spec_pb2
from tfx.orchestration.kubeflow.v2 import compiler_utils


def read_document(document):
    """Returns (PipelineSpec, PipelineDeploymentConfig); an unknown key or a wrong type raises."""
    spec = document
    if "pipelineSpec" in document:
        job = json_format.ParseDict(document, pipeline_spec_pb2.PipelineJob())
        spec = json_format.MessageToDict(job.pipeline_spec)
    parsed = json_format.ParseDict(spec, pipeline_spec_pb2.PipelineSpec())
    deployment = json_format.ParseDict(
        json_format.MessageToDict(parsed.deployment_spec), pipeline_spec_pb2.PipelineDeploymentConfig()
    )
    return parsed, deployment


def problems_of(spec, deployment):
    """Returns a sentence for each input that is not resolved, each cycle, and each type without its class."""
    tasks = spec.root.dag.tasks
    found = []
    for name, task in tasks.items():
        component = spec.components.get(task.component_ref.name)
        if component is None or component.executor_label not in deployment.executors:
            found.append(f"{name}: nothing executes it")
            continue
        found += [f"{name}: {each}" for each in _input_problems(spec, task, component)]
        types = [each.artifact_type for each in component.input_definitions.artifacts.values()]
        types += [each.artifact_type for each in component.output_definitions.artifacts.values()]
        found += [f"{name}: {problem}" for each in types if (problem := _type_problem(each))]
        container = deployment.executors[component.executor_label].container
        if container.image and (not container.command or "{{$}}" not in container.args):
            found.append(f"{name}: its container gets no input")
    return found + _order_problems(tasks)


def _input_problems(spec, task, component):
    wanted, given = component.input_definitions, task.inputs
    yield from (f"{key} has no value" for key in set(wanted.parameters) - set(given.parameters))
    yield from (f"{key} is not an input" for key in set(given.parameters) - set(wanted.parameters))
    yield from (f"{key} has no artifact" for key in set(wanted.artifacts) - set(given.artifacts))
    yield from (f"{key} is not an input" for key in set(given.artifacts) - set(wanted.artifacts))
    for key, source in given.parameters.items():
        kind = source.WhichOneof("kind")
        if kind == "component_input_parameter":
            if source.component_input_parameter not in spec.root.input_definitions.parameters:
                yield f"{key}: the pipeline has no parameter {source.component_input_parameter}"
        elif kind == "task_output_parameter":
            taken = source.task_output_parameter
            made = _outputs(spec, taken.producer_task).parameters.get(taken.output_parameter_key)
            if made is None:
                yield f"{key}: {taken.producer_task} has no output {taken.output_parameter_key}"
            elif key in wanted.parameters and made.parameter_type != wanted.parameters[key].parameter_type:
                yield f"{key}: {taken.producer_task} gives another type"
            if taken.producer_task not in task.dependent_tasks:
                yield f"{key}: it does not wait for {taken.producer_task}"
        elif kind != "runtime_value" or not source.runtime_value.HasField("constant"):
            yield f"{key} has no value"
    for key, source in given.artifacts.items():
        taken = source.task_output_artifact
        made = _outputs(spec, taken.producer_task).artifacts.get(taken.output_artifact_key)
        if made is None:
            yield f"{key}: {taken.producer_task} has no output {taken.output_artifact_key}"
        elif key in wanted.artifacts and made.artifact_type != wanted.artifacts[key].artifact_type:
            yield f"{key}: {taken.producer_task} gives another type"


def _outputs(spec, task):
    if task not in spec.root.dag.tasks:
        return spec.root.output_definitions
    return spec.components[spec.root.dag.tasks[task].component_ref.name].output_definitions


def _type_problem(artifact_type):
    """A container makes the artifact's class of the title of its schema."""
    title = (yaml.safe_load(artifact_type.instance_schema or "{}") or {}).get("title")
    if not title:
        return "an artifact has no schema with a title"
    module, _, name = compiler_utils.TITLE_TO_CLASS_PATH.get(title, title).rpartition(".")
    try:
        made = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        return f"no class is found for {title}: {error}"
    return "" if title in (made.TYPE_NAME, f"tfx.{made.__name__}") else f"{title} is {made.TYPE_NAME}"


def order_of(tasks):
    """Returns the names of tasks, each after those that it waits for or takes something from."""
    graph = {}
    for name, task in tasks.items():
        takes = [each.task_output_artifact.producer_task for each in task.inputs.artifacts.values()]
        takes += [each.task_output_parameter.producer_task for each in task.inputs.parameters.values()]
        graph[name] = {each for each in (*takes, *task.dependent_tasks) if each}
    return list(graphlib.TopologicalSorter(graph).static_order())


def _order_problems(tasks):
    missing = {each for task in tasks.values() for each in task.dependent_tasks if each not in tasks}
    found = [f"{each}: no such task" for each in sorted(missing)]
    try:
        order_of(tasks)
    except graphlib.CycleError as error:
        found.append(f"cycle: {error.args[1]}")
    return found
