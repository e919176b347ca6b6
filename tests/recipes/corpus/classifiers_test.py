import pytest

from firth.recipes import RecipeError, load_recipe


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            "reference: [boks]",
            r"my\.yaml:7:7: cleaning.*: no source is named 'boks'; did you mean books",
        ),
        ("reference: [books, web]", r"my\.yaml:7:7: .*reference: names all sources"),
        ("reference: [books]\n      crawl: [books]", "crawl: 'books' is a reference too"),
        ("crawl: [books]", "name a source under reference"),
    ],
)
def test_a_recipe_that_names_what_is_not_there(tmp_path, settings, said):
    path = tmp_path / "my.yaml"
    path.write_text(f"""extends: bert_tiny
sources:
  - {{kind: text, name: books, paths: [a]}}
  - {{kind: text, name: web, paths: [b]}}
cleaning: {{
  steps: [{{kind: classifier,
      {settings.replace(chr(10), ",")} }}]}}
""")
    with pytest.raises(RecipeError, match=said):
        load_recipe(path)
