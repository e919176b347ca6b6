"""A pipeline of two components on a store of metadata; the second waits until a file is there.

For `stores_test.py`, in processes and in the test's own. It prints which components ran.
"""

import pathlib
import time

from tfx.dsl.component.experimental.annotations import InputArtifact, OutputArtifact, Parameter
from tfx.dsl.component.experimental.decorators import component
from tfx.types.standard_artifacts import Model

from firth.pipelines.corpus import assemble
from firth.pipelines.observed_runner import ObservedDagRunner
from firth.recipes import load_recipe


@component
def Make(model: OutputArtifact[Model]):
    pathlib.Path(f"{model.uri}.made").touch()


@component
def Wait(model: InputArtifact[Model], folder: Parameter[str]):
    assert pathlib.Path(f"{model.uri}.made").exists()
    pathlib.Path(folder, "waiting").touch()
    while not pathlib.Path(folder, "go").exists():
        time.sleep(0.05)


class Printer:
    def begin(self, components):
        pass

    def start(self, component):
        print(component, end=" ", flush=True)

    def end(self, state):
        print(state, flush=True)


def main(folder, place):
    """Runs the pipeline that is named after the folder."""
    made = Make()
    waited = Wait(model=made.outputs["model"], folder=folder)
    recipe = load_recipe("demo", [f"name={pathlib.Path(folder).name}"])
    ObservedDagRunner(Printer()).run(assemble(recipe, [made, waited], f"{folder}/root", place, (), True))
