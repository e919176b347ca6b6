import pytest

from firth.recipes import RecipeError, load_recipe


@pytest.mark.parametrize(
    ("mixture", "said"),
    [
        (
            "{kind: weights, weights: {boks: 1, web: 1}}",
            r"6:\d+: mixture\.weights\.boks: .* mean books\?",
        ),
        (
            "{kind: weights, weights: {web: 1}}",
            "mixture.weights: the source 'books' has no weight; 0 leaves it out",
        ),
        ("{kind: weights, weights: {web: 0, books: 0}}", "at least one must be above 0"),
        ("{kind: proportional, max_repeats_of: {Web: 2}}", r"mixture\.max_repeats_of\.Web: .* web"),
        ("{kind: proportional, temprature: 2}", "did you mean temperature"),
        ("{kind: proportional, temperature: 0}", "greater than 0"),
    ],
)
def test_a_recipe_that_cannot_be_mixed(tmp_path, mixture, said):
    path = tmp_path / "my.yaml"
    path.write_text(f"""extends: bert_tiny
sources:
  - {{kind: text, name: books, paths: [a]}}
  - {{kind: text, name: web, paths: [b]}}

mixture: {mixture}
""")
    with pytest.raises(RecipeError, match=said):
        load_recipe(path)
