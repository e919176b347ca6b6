"""A store of metadata that answers in another order than it is asked, as PostgreSQL does."""

import pytest
from ml_metadata.metadata_store import MetadataStore
from tfx.dsl.component.experimental.annotations import InputArtifact, OutputArtifact, Parameter
from tfx.dsl.component.experimental.decorators import component
from tfx.orchestration import metadata
from tfx.orchestration.local.local_dag_runner import LocalDagRunner
from tfx.orchestration.pipeline import Pipeline
from tfx.types.standard_artifacts import Model

from firth.pipelines.observed_runner import ObservedDagRunner


@component
def MakeTwo(first: OutputArtifact[Model], second: OutputArtifact[Model]):
    for name, model in (("first", first), ("second", second)):
        with open(f"{model.uri}.name", "w") as file:
            file.write(name)


@component
def Expect(model: InputArtifact[Model], name: Parameter[str], times: Parameter[int]):
    with open(f"{model.uri}.name") as file:
        found = file.read()
    if found != name:
        raise ValueError(f"it is the {found} one")


class Recorder(list):
    def begin(self, components):
        pass

    def start(self, component):
        self.append(component)

    def end(self, state):
        self.append(state)


@pytest.fixture
def backwards(monkeypatch):
    """Makes every store answer from the last id to the first."""
    in_order = MetadataStore.get_artifacts_by_id

    def found(store, ids, *more, **others):
        return sorted(in_order(store, ids, *more, **others), key=lambda each: -each.id)

    monkeypatch.setattr(MetadataStore, "get_artifacts_by_id", found)


def pipeline(folder, times):
    made = MakeTwo()
    return Pipeline(
        "test",
        str(folder / "root"),
        components=[made, Expect(model=made.outputs["second"], name="second", times=times)],
        enable_cache=True,
        metadata_connection_config=metadata.sqlite_metadata_connection_config(str(folder / "metadata.db")),
    )


@pytest.mark.usefixtures("backwards")
def test_outputs_of_a_component_from_the_cache_are_not_exchanged(tmp_path):
    for times, state in ((1, "finished"), (2, "cached")):
        seen = Recorder()
        ObservedDagRunner(seen).run(pipeline(tmp_path, times))
        assert seen == ["MakeTwo", state, "Expect", "finished"]


@pytest.mark.usefixtures("backwards")
def test_tfx_s_own_handle_exchanges_them(tmp_path):
    """Once this fails, TFX has mended it, and `OrderedMetadata` may go."""
    LocalDagRunner().run(pipeline(tmp_path, 1))
    with pytest.raises(ValueError, match="first"):
        LocalDagRunner().run(pipeline(tmp_path, 2))
