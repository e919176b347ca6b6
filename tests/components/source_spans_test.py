import pytest

from firth.components.source_spans import at_newest_spans
from firth.corpus import SourceError
from firth.pipelines import curate
from firth.recipes import load_recipe


def make(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("A word.\n")


def recipe_of(folder, *paths):
    given = ", ".join(f"'{folder}/{path}'" for path in paths)
    return load_recipe("demo", [f"sources=[{{kind: text, paths: [{given}]}}]"])


@pytest.mark.parametrize(
    ("pattern", "made", "newest"),
    [
        ("{SPAN}/*.txt", ("2/a.txt", "10/a.txt", "9/a.txt"), "10/*.txt"),
        ("{SPAN}/v{VERSION}/*.txt", ("1/v7/a.txt", "2/v1/a.txt", "2/v3/a.txt"), "2/v3/*.txt"),
        ("{YYYY}-{MM}-{DD}/*.txt", ("2026-09-30/a.txt", "2026-10-01/a.txt"), "2026-10-01/*.txt"),
        ("*.txt", ("a.txt",), "*.txt"),
    ],
)
def test_the_newest_number_is_taken(tmp_path, pattern, made, newest):
    make(tmp_path, *made)
    (source,) = at_newest_spans(recipe_of(tmp_path, pattern).sources)
    assert source.paths == (f"{tmp_path}/{newest}",)


def test_a_relative_path_is_looked_up_from_the_file_of_the_recipe(tmp_path):
    make(tmp_path, "1/a.txt")
    (tmp_path / "spans.yaml").write_text("extends: demo\nsources: [{kind: text, paths: ['{SPAN}/*.txt']}]\n")
    assert load_recipe(tmp_path / "spans.yaml").sources[0].paths == (f"{tmp_path}/{{SPAN}}/*.txt",)


def test_what_is_not_there_is_refused(tmp_path):
    with pytest.raises(SourceError, match="source text: no newest span of "):
        at_newest_spans(recipe_of(tmp_path, "{SPAN}/*.txt").sources)
    make(tmp_path, "x/a.txt")
    with pytest.raises(SourceError, match="Cannot find span number"):
        at_newest_spans(recipe_of(tmp_path, "{SPAN}/*.txt").sources)
    make(tmp_path, "a/1/a.txt", "a/2/a.txt", "b/1/a.txt")
    with pytest.raises(SourceError, match="same for each"):
        at_newest_spans(recipe_of(tmp_path, "a/{SPAN}/*", "b/{SPAN}/*").sources)


def test_a_pipeline_that_is_made_again_reads_the_new_span(tmp_path):
    recipe, found = recipe_of(tmp_path, "{SPAN}/*.txt"), []
    for span in ("1", "2"):
        make(tmp_path, f"{span}/a.txt")
        nodes = {node.id: node for node in curate.create_pipeline(recipe, str(tmp_path / "root")).components}
        found.append(nodes["CorpusExampleGen"].exec_properties)
        assert f"{tmp_path}/{span}/*.txt" in found[-1]["sources"]
    assert found[0]["fingerprint"] != found[1]["fingerprint"]
