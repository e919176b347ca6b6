"""Methods that put something before the tokens: what is trained, what it starts from, and what is refused."""

import numpy as np
import pytest

from firth.models import load_model
from firth.models.bundle import weights_by_path
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.tuning import prompts
from firth.recipes.tuning.methods import method_types
from firth.tokenizers import WordPieceTokenizer
from firth.tuning import METHODS, AdapterError, TuningError, load_adapter
from tests.training.artifacts import VOCABULARY, tiny_recipe, write_bundle
from tests.tuning.additions_test import model_of
from tests.tuning.runs import adapting, run

PREFIX = {"kind": "prefix_tuning", "length": 3, "hidden": 5}


@pytest.fixture(scope="module")
def adapted(tmp_path_factory):
    """A folder with a run of the Trainer's own function, and its recipe."""
    folder = tmp_path_factory.mktemp("prefix")
    recipe = adapting("bert", folder, PREFIX)
    # Its export is asked in `tests/serving/adapter_export_test.py`.
    run(folder, recipe, served=False)
    return folder, recipe


def test_keys_and_values_are_saved_without_the_network(adapted):
    folder, recipe = adapted
    whole = load_model(folder / "model" / "bundle")
    model, saved = load_adapter(folder / "model" / "adapter", recipe.base.bundle)
    assert saved.method == recipe.method.kept != recipe.method
    shapes = {path: tuple(each.shape) for path, each in weights_by_path(model).items() if "added/" in path}
    assert list(shapes) == ["added/encoder/block_0/attention/keys_values/prefix_tuning/keys_values"]
    for path, each in weights_by_path(whole).items():
        np.testing.assert_array_equal(each, weights_by_path(model)[path], err_msg=path)
    base = weights_by_path(load_model(recipe.base.bundle))
    for path, each in weights_by_path(whole).items():
        if path.startswith("backbone/"):
            np.testing.assert_array_equal(each, base[path], err_msg=path)
    assert (folder / "model" / "adapter" / "adapter.safetensors").stat().st_size < 8192


def test_another_base_is_refused(adapted, tmp_path):
    folder, _ = adapted
    other = write_bundle(tmp_path / "other", tiny_recipe(), seed=8)
    with pytest.raises(AdapterError, match="belongs to the base"):
        load_adapter(folder / "model" / "adapter", other)


def begun(method, model=None):
    model = model or model_of("masked_lm")
    METHODS[method.kind](model, method, 1)
    (prompt,) = model.added.held
    prompt.begin(model, WordPieceTokenizer(VOCABULARY[:23]), method)
    return prompt, np.array(model.backbone.token_embedding.table)


def test_a_prompt_starts_from_a_text_again_and_again():
    prompt, table = begun(prompts.PromptTuning(length=5, start="text", text="w1 w2"))
    one, two = (VOCABULARY.index(word) for word in ("w1", "w2"))
    np.testing.assert_array_equal(prompt.vectors, table[[one, two, one, two, one]])
    with pytest.raises(ValueError, match="text is said with start: text"):
        prompts.PromptTuning(text="w1")


def test_a_prompt_starts_from_pieces_that_the_seed_draws_and_none_of_them_special():
    rows = []
    for _ in range(2):
        prompt, table = begun(prompts.PromptTuning(length=6))
        rows.append([int(np.flatnonzero((table == each).all(1))[0]) for each in np.array(prompt.vectors)])
    assert rows[0] == rows[1] and len(set(rows[0])) == 6
    assert not {VOCABULARY[row] for row in rows[0]} & {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}


def test_a_prompt_starts_from_no_piece_that_nothing_has_trained():
    """As most of the first thousand pieces of BERT's vocabulary are."""
    method = prompts.PromptTuning(length=6)
    model = model_of("masked_lm")
    METHODS[method.kind](model, method, 1)
    unused = [f"[unused{number}]" for number in range(15)]
    tokenizer = WordPieceTokenizer([*VOCABULARY[:5], *unused, "fox", "##es"])
    model.added.held[0].begin(model, tokenizer, method)
    table = np.array(model.backbone.token_embedding.table)
    found = {int(np.flatnonzero((table == each).all(1))[0]) for each in np.array(model.added.held[0].vectors)}
    assert found <= {20, 21}


def test_a_random_prompt_is_within_a_half():
    prompt, _ = begun(prompts.PromptTuning(length=50, start="random"))
    assert 0.4 < np.abs(prompt.vectors).max() <= 0.5


@pytest.mark.parametrize("kind, message", [("average", ""), ("exact", ""), ("shared", "")])
def test_a_run_for_one_task_starts_from_what_several_have_learned(tmp_path, kind, message):
    source = model_of("masked_lm")
    METHODS["multitask_prompt_tuning"](source, prompts.MultitaskPromptTuning(length=2, tasks=3), 1)
    folder = save(source, tmp_path)
    method = prompts.MultitaskPromptTuning(length=2, source=folder, from_source=kind, source_task=1)
    (old,), (new, _) = source.added.held, begun(method)
    np.testing.assert_array_equal(new.vectors, old.vectors)
    expected = {"average": np.mean(old.columns, axis=0), "exact": np.array(old.columns)[1]}
    if kind in expected:
        np.testing.assert_allclose(new.columns[0], expected[kind], rtol=1e-6)
    else:
        assert np.abs(np.array(new.columns)).max() > 0


def save(model, folder) -> str:
    from firth.models.bundle import specs_of
    from firth.storage.tensor_files import write_tensors

    weights = {path: each for path, each in weights_by_path(model).items() if path.startswith("added/")}
    arrays = ((path, np.array(each)) for path, each in weights.items())
    write_tensors(str(folder / "adapter.safetensors"), specs_of(weights), arrays, {"library": "firth"})
    return str(folder)


def test_a_source_that_does_not_fit_is_refused(tmp_path):
    with pytest.raises(TuningError, match=r"method\.kind: multitask_prompt_tuning"):
        begun(prompts.MultitaskPromptTuning(length=2, source=str(tmp_path)))
    source = model_of("masked_lm")
    METHODS["multitask_prompt_tuning"](source, prompts.MultitaskPromptTuning(length=3), 1)
    with pytest.raises(TuningError, match=r"\[3, 16\].*\[2, 16\]"):
        begun(prompts.MultitaskPromptTuning(length=2, source=save(source, tmp_path)))
    with pytest.raises(TuningError, match="source_task: 4, but the source has 1 tasks"):
        begun(
            prompts.MultitaskPromptTuning(length=3, source=str(tmp_path), from_source="exact", source_task=4)
        )


@pytest.mark.parametrize(
    "method, message",
    [
        ({"kind": "prompt_tuning"}, "max_documents: a row may hold .* say sequences.max_documents: 1"),
        ({"kind": "p_tuning_v2", "length": 4000}, "positions for .*method.kind: p_tuning_v2 takes 4000"),
        ({"kind": "multitask_prompt_tuning", "tasks": 2}, "method.tasks: 2, but .*classification has 1"),
    ],
)
def test_a_recipe_that_does_not_fit_is_refused(adapted, method, message):
    with pytest.raises(ValueError, match=message):
        AdaptingRecipe.of({**adapted[1].model_dump(), "method": method})


def test_each_method_says_a_rate_of_its_own():
    of_prompts = [each for each in method_types().values() if not each.starts_as_base]
    assert len(of_prompts) > 3 and all(each.learning_rate for each in of_prompts)
