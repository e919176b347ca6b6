import pytest

from firth.pipelines.orchestrators.targets import checked_root, pipeline_name


def test_a_root_loses_the_slash_at_its_end():
    assert checked_root("gs://bucket/runs/", "vertex") == "gs://bucket/runs"
    assert checked_root("s3://bucket/runs", "kubeflow") == "s3://bucket/runs"


@pytest.mark.parametrize(
    ("root", "orchestrator", "problem"),
    [
        ("s3://bucket/runs", "vertex", "Vertex AI Pipelines, whose .* gs://my-bucket/firth$"),
        ("/tmp/runs", "kubeflow", "gs://my-bucket/firth or s3://my-bucket/firth$"),
        ("gs://", "vertex", "is not a place"),
    ],
)
def test_a_place_that_containers_do_not_share_is_refused(root, orchestrator, problem):
    with pytest.raises(ValueError, match=problem):
        checked_root(root, orchestrator)


@pytest.mark.parametrize("name", ["语料", "a" * 129])
def test_a_name_that_leaves_the_pipeline_none_is_refused(name):
    with pytest.raises(ValueError, match="--set name=my-pipeline"):
        pipeline_name(name)
