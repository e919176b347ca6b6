"""Runs a compiled pipeline's tasks in order, each by its container's own command, as an orchestrator would.

A task is given an ExecutorInput as an orchestrator makes it, and says its outputs in a file in the bucket.
Importers and resolvers have no command; their work is done here.
"""

import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import uuid

import yaml
from google.protobuf import json_format

from tests.pipelines.orchestrators.graph_checks import order_of

# The container's `python` is this one, and firth that of this checkout.
CHECKOUT = pathlib.Path(__file__).parents[3]

# Numbers of the runs of this process: an artifact of another run has another name.
_NUMBERS = itertools.count(1)
# What a resolver asks of an artifact, by the name in its query.
_CONDITIONS = {
    "schema_title": lambda each, said: yaml.safe_load(each["type"]["instanceSchema"])["title"] == said,
    "state": lambda each, said: said == "LIVE",
    "name": lambda each, said: each["name"] == said,
    "metadata.blessed.number_value": lambda each, said: (
        each.get("metadata", {}).get("blessed") == float(said)
    ),
}


class TaskRunner:
    """Runs the tasks of one pipeline.

    `outputs` holds the output of each task: artifacts and parameter values by name, as JSON. `ran` names
    those whose command has run, and `cache` holds outputs by the tasks' inputs, as that of an
    orchestrator does. Resolvers find the artifacts of an `earlier` run.
    """

    def __init__(self, spec, deployment, root, bucket, environment, folder, cache=None, earlier=None):
        self.spec, self.deployment, self.root = spec, deployment, root
        self.bucket, self.folder = bucket, folder
        path = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.environment = {**os.environ, **environment, "PATH": path, "PYTHONPATH": str(CHECKOUT)}
        self.outputs, self.ran, self.cache = {}, [], dict(cache or {})
        self.number = next(_NUMBERS)
        found = earlier.outputs.values() if earlier else ()
        self.live = [
            artifact
            for output in found
            for each in output["artifacts"].values()
            for artifact in each["artifacts"]
        ]

    def run(self, **parameters):
        defined = self.spec.root.input_definitions.parameters
        given = {name: json_format.MessageToDict(each.default_value) for name, each in defined.items()}
        for task in order_of(self.spec.root.dag.tasks):
            self._run(task, {**given, **parameters})

    def artifacts(self, task, key):
        return self.outputs[task]["artifacts"][key]["artifacts"]

    def _run(self, name, parameters):
        task = self.spec.root.dag.tasks[name]
        component = self.spec.components[task.component_ref.name]
        executor = self.deployment.executors[component.executor_label]
        made = {
            key: {"artifacts": [self._artifact(name, key, each.artifact_type)]}
            for key, each in component.output_definitions.artifacts.items()
        }
        kind = executor.WhichOneof("spec")
        if kind == "importer":
            (artifact,) = made["result"]["artifacts"]
            artifact["uri"] = executor.importer.artifact_uri.constant.string_value
            artifact["metadata"] = json_format.MessageToDict(executor.importer.metadata)
            self.outputs[name] = {"artifacts": made}
        elif kind == "resolver":
            queries = executor.resolver.output_artifact_queries
            given = self._given(task)
            self.outputs[name] = {
                "artifacts": {key: {"artifacts": self._found(queries[key].filter, given)} for key in made}
            }
        else:
            self.outputs[name] = self._execute(name, task, component, executor.container, made, parameters)

    def _found(self, query, given):
        """The artifacts of the earlier run that a query of TFX asks for."""
        found = self.live
        for condition in query.split(" AND "):
            name, said = condition.split("=", 1)
            said = said.strip('"')
            if taken := re.fullmatch(r"\{\{\$\.inputs\.artifacts\['(.+)'\]\.metadata\['(.+)'\]\}\}", said):
                said = next((each["metadata"][taken[2]] for each in given[taken[1]]["artifacts"]), None)
            has = _CONDITIONS[name]
            found = [each for each in found if has(each, said)]
        return found

    def _given(self, task):
        return {
            key: self.outputs[source.task_output_artifact.producer_task]["artifacts"][
                source.task_output_artifact.output_artifact_key
            ]
            for key, source in task.inputs.artifacts.items()
        }

    def _artifact(self, task, key, artifact_type):
        uri = f"{self.root}/{task}/1/{key}"
        return {
            # An artifact of the earlier run has the same place and another name.
            "name": f"projects/1/artifacts/{uuid.uuid5(uuid.NAMESPACE_URL, f'{uri}#{self.number}')}",
            "type": json_format.MessageToDict(artifact_type),
            "uri": uri,
        }

    def _execute(self, name, task, component, container, made, parameters):
        file = f"{self.root}/{name}/1/executor_output.json"
        definitions = component.output_definitions.parameters
        executor_input = {
            "inputs": {
                "parameterValues": {
                    key: self._value(source, parameters) for key, source in task.inputs.parameters.items()
                },
                "artifacts": self._given(task),
            },
            "outputs": {
                "artifacts": made,
                "parameters": {key: {"outputFile": f"{self.root}/{name}/1/{key}"} for key in definitions},
                "outputFile": file,
            },
        }
        # What decides whether a task is taken from the cache.
        asked = json.dumps([[*container.command, *container.args], executor_input["inputs"]], sort_keys=True)
        if not task.caching_options.enable_cache or asked not in self.cache:
            self.cache[asked] = self._said(name, container, executor_input, made)
        return self.cache[asked]

    def _said(self, name, container, executor_input, made):
        file, text = executor_input["outputs"]["outputFile"], json.dumps(executor_input)
        command = [text if each == "{{$}}" else each for each in (*container.command, *container.args)]
        with open(self.folder / f"{name}.txt", "w") as log:
            done = subprocess.run(
                command,
                stdout=log,
                stderr=log,
                env=self.environment,
                cwd=self.folder,
                timeout=1200,
                check=False,
            )
        said = (self.folder / f"{name}.txt").read_text(errors="replace")
        assert done.returncode == 0, f"{name}: {said[-5000:]}"
        self.ran.append(name)
        output = json.loads(self.bucket.read(file))
        assert set(executor_input["outputs"]["parameters"]) == set(output.get("parameterValues", {})), name
        for key, each in output.get("artifacts", {}).items():
            # A task's output lacks the type of an artifact, which orchestrators know.
            (artifact,) = each["artifacts"]
            made[key]["artifacts"][0].update(artifact)
        return {"artifacts": made, "parameterValues": output.get("parameterValues", {})}

    def _value(self, source, parameters):
        kind = source.WhichOneof("kind")
        if kind == "component_input_parameter":
            return parameters[source.component_input_parameter]
        if kind == "task_output_parameter":
            taken = source.task_output_parameter
            return self.outputs[taken.producer_task]["parameterValues"][taken.output_parameter_key]
        return json_format.MessageToDict(source.runtime_value.constant)
