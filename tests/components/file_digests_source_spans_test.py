import pytest

from firth.components.file_digests import at_newest_spans
from firth.corpus import SourceError
from firth.pipelines import corpus as curate
from firth.recipes import load_recipe


def make(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"A word of {name}.\n")


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
    (source,) = at_newest_spans(recipe_of(tmp_path, pattern)).sources
    assert source.paths == (f"{tmp_path}/{newest}",)


def test_a_relative_path_is_looked_up_from_the_file_of_the_recipe(tmp_path):
    make(tmp_path, "1/a.txt")
    (tmp_path / "spans.yaml").write_text("extends: demo\nsources: [{kind: text, paths: ['{SPAN}/*.txt']}]\n")
    assert load_recipe(tmp_path / "spans.yaml").sources[0].paths == (f"{tmp_path}/{{SPAN}}/*.txt",)


def test_what_is_not_there_is_refused(tmp_path):
    with pytest.raises(SourceError, match=r"source text: .*span"):
        at_newest_spans(recipe_of(tmp_path, "{SPAN}/*.txt"))
    make(tmp_path, "x/a.txt")
    with pytest.raises(SourceError, match="Cannot find span number"):
        at_newest_spans(recipe_of(tmp_path, "{SPAN}/*.txt"))
    make(tmp_path, "a/1/a.txt", "a/2/a.txt", "b/1/a.txt")
    with pytest.raises(SourceError, match="same for each"):
        at_newest_spans(recipe_of(tmp_path, "a/{SPAN}/*", "b/{SPAN}/*"))


def test_a_pipeline_that_is_made_again_reads_the_new_span(tmp_path):
    recipe, found = recipe_of(tmp_path, "{SPAN}/*.txt"), []
    for span in ("1", "2"):
        make(tmp_path, f"{span}/a.txt")
        nodes = {node.id: node for node in curate.create_pipeline(recipe, str(tmp_path / "root")).components}
        found.append(nodes["CorpusExampleGen"].exec_properties)
        assert f"{tmp_path}/{span}/*.txt" in found[-1]["sources"]
    assert found[0]["fingerprint"] != found[1]["fingerprint"]


def with_reference(folder, *options):
    read = f"{{kind: text, paths: ['{folder}/good/{{SPAN}}/*.txt']}}"
    step = f"cleaning.steps=[{{kind: length}}, {{kind: classifier, reference_files: [{read}]}}]"
    recipe = recipe_of(folder, "{SPAN}/*.txt")
    return load_recipe("demo", [f"sources=[{recipe.sources[0].to_json()}]", step, *options])


def test_files_of_a_reference_have_spans_of_their_own(tmp_path):
    make(tmp_path, "2/a.txt", "good/4/a.txt", "good/30/a.txt")
    recipe = at_newest_spans(with_reference(tmp_path))
    assert recipe.sources[0].paths == (f"{tmp_path}/2/*.txt",)
    (reference,) = recipe.cleaning.steps[1].reference_files
    assert reference.paths == (f"{tmp_path}/good/30/*.txt",)
    (tmp_path / "good" / "30").rename(tmp_path / "good" / "x")
    with pytest.raises(SourceError, match=r"cleaning\.steps\.1\.reference_files\.0: .*span"):
        at_newest_spans(with_reference(tmp_path))


def test_the_cleaning_and_the_datasheet_name_the_span_that_was_read(tmp_path):
    make(tmp_path, "1/a.txt", "2/a.txt", "good/7/a.txt")
    recipe, digests = with_reference(tmp_path, "outputs=[{kind: jsonl}]"), []
    for span in ("7", "8"):
        make(tmp_path, f"good/{span}/a.txt")
        pipeline = curate.create_pipeline(recipe, str(tmp_path / "root"))
        values = {node.id: node.exec_properties for node in pipeline.components}
        exporter, curator = values["CorpusExporter"], values["Curator"]
        assert f"{tmp_path}/2/*.txt" in exporter["sources"] and "{SPAN}" not in exporter["sources"]
        assert exporter["sources"] == values["CorpusExampleGen"]["sources"]
        for cleaning in (curator["cleaning"], exporter["cleaning"]):
            assert f"{tmp_path}/good/{span}/*.txt" in cleaning and "{SPAN}" not in cleaning
        digests.append(curator["files_digest"])
    assert digests[0] != digests[1]
