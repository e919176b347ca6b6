import pathlib
import sys

import apache_beam as beam
import pytest
from tfx.dsl.component.experimental.annotations import (
    BeamComponentParameter,
    InputArtifact,
    OutputArtifact,
    Parameter,
)
from tfx.dsl.component.experimental.decorators import component
from tfx.orchestration import metadata
from tfx.orchestration.pipeline import Pipeline
from tfx.types.standard_artifacts import Model

from firth.pipelines.observed_runner import ObservedDagRunner


@component
def Make(model: OutputArtifact[Model], size: Parameter[int]):
    with open(f"{model.uri}.size", "w") as file:
        file.write(str(size))


@component
def Check(model: InputArtifact[Model], most: Parameter[int]):
    with open(f"{model.uri}.size") as file:
        if int(file.read()) > most:
            raise ValueError("too large")


@component(use_beam=True)
def Count(model: OutputArtifact[Model], pipeline: BeamComponentParameter[beam.Pipeline] = None):
    path, runner = pathlib.Path(f"{model.uri}.counted"), type(pipeline.runner).__name__
    with pipeline as made:
        counted = made | beam.Create([1, 2, 3]) | beam.combiners.Count.Globally()
        counted | beam.Map(lambda count: path.write_text(f"{runner} {count}"))


class Recorder(list):
    def begin(self, components):
        self.components = list(components)

    def start(self, component):
        self.append(component)

    def end(self, state):
        self.append(state)


def run(folder, size: int, most: int) -> tuple[list[str], Exception | None]:
    make = Make(size=size)
    check = Check(model=make.outputs["model"], most=most)
    pipeline = Pipeline(
        "test",
        str(folder / "root"),
        components=[make, check],
        enable_cache=True,
        metadata_connection_config=metadata.sqlite_metadata_connection_config(str(folder / "metadata.db")),
    )
    seen = Recorder()
    try:
        ObservedDagRunner(seen).run(pipeline)
    except Exception as error:
        return seen, error
    return seen, None


def test_components_start_and_end_finished_cached_or_not_at_all(tmp_path):
    assert run(tmp_path, 3, 5) == (["Make", "finished", "Check", "finished"], None)
    assert run(tmp_path, 3, 5) == (["Make", "cached", "Check", "cached"], None)
    assert run(tmp_path, 3, 5)[0].components == ["Make", "Check"]
    seen, error = run(tmp_path, 3, 2)
    assert seen == ["Make", "cached", "Check"]
    assert "too large" in str(error)
    assert run(tmp_path, 3, 3) == (["Make", "cached", "Check", "finished"], None)


def test_a_part_of_a_pipeline_is_refused():
    with pytest.raises(ValueError, match="no options"):
        ObservedDagRunner(Recorder()).run_with_ir(None, run_options=object())


@pytest.mark.parametrize(
    ("options", "runner"),
    [
        ([], "FnApiRunner"),
        (["--runner=DirectRunner", "--sdk_container_image=none"], "SwitchingDirectRunner"),
    ],
)
def test_without_options_beam_runs_in_this_process_and_offers_nothing_to_prism(
    tmp_path, monkeypatch, options, runner
):
    # TFX reads flags of Abseil from the command line.
    monkeypatch.setattr(sys, "argv", ["firth"])
    count = Count()
    pipeline = Pipeline(
        "test",
        str(tmp_path / "root"),
        components=[count],
        metadata_connection_config=metadata.sqlite_metadata_connection_config(str(tmp_path / "metadata.db")),
        beam_pipeline_args=options,
    )
    ObservedDagRunner(Recorder()).run(pipeline)
    (written,) = (tmp_path / "root").rglob("*.counted")
    assert written.read_text() == f"{runner} 3"
