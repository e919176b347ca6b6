"""Recipes that adapt a model: what they say, and what their base brings."""

import pytest

from firth.recipes import RecipeError, load_recipe, recipe_to_yaml
from firth.recipes.reading.adapting import adapting_yaml, load_adapting_recipe
from firth.recipes.reading.bundles import digest_of_bundle
from firth.recipes.reading.loading import load_run_recipe
from firth.recipes.tasks.embedding import SentenceEmbedding
from firth.recipes.tasks.forms import BERTForm, XLNetForm
from firth.recipes.training.training import Training
from tests.recipes.bundles import write_bundle

DATA = "data={kind: columns, train: a.csv}"
TASK = "task={kind: classification, labels: [no, yes]}"


@pytest.fixture
def root(tmp_path):
    write_bundle(tmp_path / "runs" / "base" / "bundle")
    return tmp_path / "runs"


def load(root, *options):
    return load_adapting_recipe(None, ["base=base", DATA, TASK, *options], root)


def test_what_the_base_brings(root):
    recipe, base = load(root), load_recipe("bert_tiny")
    assert (recipe.tokenizer, recipe.model, recipe.export) == (base.tokenizer, base.model, base.export)
    assert recipe.base.digest == digest_of_bundle(str(root / "base" / "bundle"))
    assert recipe.name == "base_classification"
    assert recipe.sequences.length == min(128, base.sequences.length)
    # The rate of a base as wide as BERT tiny.
    assert recipe.training.optimizer.learning_rate == 3e-4 and recipe.evaluation.thresholds == ()
    # BERT trains its pooler.
    assert (recipe.task.form.kind, recipe.task.form.pooling) == ("bert", "first")


@pytest.mark.parametrize(
    ("method", "rate"), [("full", 3e-4), ("lora", 5e-4), ("pfeiffer", 3e-4), ("ia3", 3e-3)]
)
def test_a_method_takes_its_paper_s_rate_and_no_lower_one_than_all_weights_would(root, method, rate):
    assert load(root, f"method.kind={method}").training.optimizer.learning_rate == rate


def test_slots_of_the_base_are_not_those_of_a_task(root):
    slots = ("export.slots=4", "export.slot_length=64")
    write_bundle(root / "base" / "bundle", *slots, preset="gpt2_tiny")
    export = load(root).export
    assert (export.slots, export.slot_length) == (0, None)


def test_what_is_said_of_the_export_leaves_the_rest_to_the_base(root):
    write_bundle(root / "base" / "bundle", "export.top_k=3")
    export = load(root, "export.weights=int8").export
    assert (export.top_k, export.weights) == (3, "int8")


def test_what_is_said_is_kept(root):
    recipe = load(
        root, "model.dropout=0.3", "training.optimizer.learning_rate=1e-3", "task.form.pooling=mean"
    )
    assert recipe.model.dropout == 0.3 and recipe.training.optimizer.learning_rate == 1e-3
    assert recipe.task.form.pooling == "mean"


@pytest.mark.parametrize(("options", "problem"), [
    (["model.width=8"], "model.width: 8 is not what the base base has, 128; leave the key out"),
    (["training.batch_size=8"], "training.batch_size: follows from examples_per_step; say that"),
    (["task.kind=clasification"], "did you mean classification"),
    (["epoch=3"], "did you mean epochs"),
    (["base=bse"], "did you mean base"),
    (["task.labels=[no]"], "there is only one class"),
    (["task.form.kind=gpt"], "gpt is read by models of the architecture decoder"),
])  # fmt: skip
def test_what_is_wrong_is_said_with_its_key(root, options, problem):
    with pytest.raises(RecipeError) as error:
        load(root, *options)
    assert problem in str(error.value)


def test_without_a_base(root):
    with pytest.raises(RecipeError, match="model to start from"):
        load_adapting_recipe(None, [DATA, TASK], root)


@pytest.mark.parametrize(("preset", "form"), [("t5_tiny", "encoder_mean"), ("bart_tiny", "both_sides")])
def test_the_form_is_the_one_that_the_base_reads(root, preset, form):
    (root / "base" / "bundle" / "recipe.yaml").write_text(recipe_to_yaml(load_recipe(preset)))
    assert load(root).task.form.kind == form
    assert load(root, "task.form.kind=both_sides").task.form.kind == "both_sides"


@pytest.mark.parametrize(("preset", "form"), [
    ("bert_tiny", {"kind": "bert", "segments": True, "separators": 1}),
    ("albert_tiny", {"kind": "bert", "segments": True, "separators": 1}),
    ("electra_tiny", {"kind": "bert", "segments": True, "separators": 1}),
    ("deberta_v3_tiny", {"kind": "bert", "segments": False, "separators": 1}),
    ("roberta_tiny", {"kind": "bert", "segments": False, "separators": 2}),
    ("xlnet_tiny", {"kind": "cls_last"}),
])  # fmt: skip
def test_two_texts_are_told_apart_as_the_published_model_does(root, preset, form):
    (root / "base" / "bundle" / "recipe.yaml").write_text(recipe_to_yaml(load_recipe(preset)))
    made = load(root, "task.pair=true", "data.texts={text: a, pair: b}").task.form.model_dump()
    assert {key: made[key] for key in form} == form


WRITTEN = "task={kind: text_to_text}"
PREFIX = "method={kind: prefix_tuning, length: 10}"
PROMPT = "method={kind: prompt_tuning, length: 10}"


# With the positions that a row of the encoder, and one of the decoder, leave free.
@pytest.mark.parametrize(("options", "free", "problem"), [
    ([WRITTEN, PREFIX], (9, 10), r"sequences.length: \d+ tokens, but .* prefix_tuning takes 10 of them"),
    ([WRITTEN, PREFIX], (10, 9), r"task.decoder_length: \d+ tokens, but .* prefix_tuning takes 10 of them"),
    ([WRITTEN, PREFIX], (10, 10), None),
    ([WRITTEN, PREFIX, "method.encoder=false"], (0, 10), None),
    ([WRITTEN, PREFIX, "method.encoder=false"], (9, None), "sequences.length: .* takes 10 of them"),
    ([WRITTEN, PROMPT], (10, 0), None),
    ([WRITTEN, PROMPT], (10, -1), r"task.decoder_length: \d+ tokens, .* positions for \d+$"),
    ([TASK, PREFIX, "method.encoder=false"], (9, None), "sequences.length: .* takes 10 of them"),
    ([TASK, PREFIX, "method.encoder=false"], (10, None), None),
])  # fmt: skip
def test_each_side_has_positions_for_its_row_and_what_stands_before_it(root, options, free, problem):
    base = load_recipe("bart_tiny")
    (root / "base" / "bundle" / "recipe.yaml").write_text(recipe_to_yaml(base))
    row, written = (None if each is None else base.model.longest - each for each in free)
    lengths = {"sequences.length": row, "task.decoder_length": written}
    said = [f"{key}={length}" for key, length in lengths.items() if length is not None]
    if problem is None:
        assert load(root, *options, *said).sequences.length == row
        return
    with pytest.raises(RecipeError, match=problem):
        load(root, *options, *said)


def test_elmo_stays_as_it_is_and_its_task_model_learns_at_a_rate_of_its_own(root):
    elmo = load_recipe("elmo_small")
    (root / "base" / "bundle" / "recipe.yaml").write_text(recipe_to_yaml(elmo))
    recipe = load(root)
    assert (recipe.task.form.kind, recipe.method.kind) == ("mixed_layers", "head")
    assert recipe.training.optimizer.learning_rate == 1e-3
    # It has read rows of 20 words, each of which continues the one before.
    assert elmo.sequences.length == 20 and recipe.sequences.length == 128
    assert recipe.task.heads_key == "mixed_texts"
    said = load(root, "method.kind=full", "training.optimizer.learning_rate=1e-4", "task.form.cells=8")
    assert (said.method.kind, said.training.optimizer.learning_rate) == ("full", 1e-4)
    assert said.task.form.cells == 8


def test_a_model_that_no_form_is_for_is_refused_by_name(root, monkeypatch):
    monkeypatch.setattr(BERTForm, "architectures", ("two_streams",))
    with pytest.raises(RecipeError, match=r"task\.kind: classification; "):
        load(root)


def test_a_whole_recipe_is_read_back(root, tmp_path):
    recipe = load(root)
    path = tmp_path / "whole.yaml"
    path.write_text(recipe_to_yaml(recipe))
    assert load_run_recipe(path) == recipe
    with pytest.raises(RecipeError, match="firth finetune --recipe"):
        load_recipe(path)


@pytest.mark.parametrize(("rows", "records", "epochs", "per_step", "batch", "steps"), [
    (100, 800, 3.0, 32, 4, 75),
    (10, 10, 1.0, 32, 10, 1),
    (7, 70, 0.5, 20, 2, 2),
])  # fmt: skip
def test_epochs_become_steps(root, rows, records, epochs, per_step, batch, steps):
    recipe = load(root, f"epochs={epochs}", f"examples_per_step={per_step}")
    training = recipe.scheduled(rows, records).training
    assert (training.batch_size, training.steps) == (batch, steps)
    assert training.optimizer.warmup_steps == min(steps - 1, round(0.06 * steps))


def test_held_out_losses_and_checkpoints_are_as_often_as_the_recipe_says(root):
    said = load(root, "training.eval_every_steps=7", "training.checkpoint_every_steps=9999").scheduled(
        100, 800
    )
    assert (said.training.eval_every_steps, said.training.checkpoint_every_steps) == (7, 25)
    never = load(root, "training.eval_every_steps=null").scheduled(100, 800)
    assert never.training.eval_every_steps is None


def test_a_warmup_in_steps_is_refused_unless_an_earlier_version_wrote_it(root, tmp_path):
    with pytest.raises(RecipeError, match=r"training\.optimizer\.warmup_steps: .*warmup; "):
        load(root, "training.optimizer.warmup_steps=100")
    recipe = load(root, "training.optimizer.kind=lamb")
    assert recipe == load(root, "training.optimizer.kind=lamb", "training.optimizer.warmup_steps=10000")
    (path := tmp_path / "again.yaml").write_text(adapting_yaml(recipe))
    assert load_adapting_recipe(path, (), root) == recipe


def test_too_many_virtual_tokens_are_told_by_their_key(root):
    with pytest.raises(RecipeError, match=r"positions .*512, .*method\.kind: prompt_tuning .*510"):
        load(root, "method.kind=prompt_tuning", "method.length=510")


@pytest.mark.parametrize(("rows", "batch", "steps"), [(100, 4, 75), (90, 4, 68), (3, 4, 3), (101, 4, 76)])
def test_a_batch_is_one_that_its_parts_divide(root, rows, batch, steps):
    """However many rows the records are packed into."""
    recipe = load(root, "training.gradient_accumulation_steps=2")
    replicas = {"strategy": "mirrored", "replicas": 2}
    training = recipe.training.model_copy(update=replicas)
    recipe = recipe.model_copy(update={"training": training})
    found = recipe.scheduled(rows, 800).training
    assert (found.batch_size, found.steps) == (batch, steps)
    Training.model_validate(found.model_dump())


EMBEDDING = "task={kind: embedding}"


def test_vectors_are_served_as_they_are_trained(root):
    recipe = load(root, EMBEDDING)
    assert (recipe.task.form.pooling, recipe.export.pooling) == ("mean", "mean_with_special")
    recipe = load(root, EMBEDDING, "task.form.pooling=first", "export.top_k=2")
    assert (recipe.export.pooling, recipe.export.top_k) == ("first", 2)
    with pytest.raises(ValueError, match=r"form\.pooling: `embed` .*last; .*mean"):
        SentenceEmbedding(form=XLNetForm())
    with pytest.raises(RecipeError, match=r"export\.pooling: cls "):
        load(root, EMBEDDING, "export.pooling=cls")


def test_a_schedule_that_does_not_fit_the_steps_is_refused_when_they_are_counted(root):
    recipe = load(root, "method.kind=adalora", "method.initial_steps=2", "method.final_steps=1")
    assert recipe.scheduled(40, 64).training.steps == 6
    with pytest.raises(ValueError, match=r"initial_steps: 2 .*method\.final_steps: 1 .*3 steps"):
        recipe.scheduled(20, 20)
