import pytest

from firth.recipes import (
    AttentionConfig,
    MaskedTransformerConfig,
    Recipe,
    RecipeError,
    RotaryPositionsConfig,
    SpanMasking,
    load_recipe,
    preset_names,
    recipe_to_yaml,
)
from firth.recipes.reading.requirements import notices
from tests.recipes.few_presets import FEW_PRESETS
from tests.repeating import often

TEXT_SOURCE = "sources:\n  - {kind: text, paths: ['*.txt']}\n"


@pytest.fixture
def recipe_file(tmp_path):
    def write(text, name="mine.yaml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def problems_of(name_or_path, *overrides):
    with pytest.raises(RecipeError) as caught:
        load_recipe(name_or_path, overrides)
    return list(caught.value.problems)


def test_a_literal_file(recipe_file, tmp_path):
    recipe = load_recipe(
        recipe_file(
            TEXT_SOURCE + "model: {kind: masked_transformer, layers: 2, width: 8, attention: {heads: 2}}\n"
        )
    )
    assert recipe.name == "mine"
    assert recipe.model == MaskedTransformerConfig(layers=2, width=8, attention=AttentionConfig(heads=2))
    assert recipe.sources[0].paths == (f"{tmp_path}/*.txt",)


def test_extends_merges_mappings_and_replaces_lists(recipe_file):
    text = "extends: bert_mini\ntraining: {optimizer: {learning_rate: 1e-2}}\n" + TEXT_SOURCE
    recipe, preset = load_recipe(recipe_file(text)), load_recipe("bert_mini")
    assert recipe.model == preset.model
    assert recipe.training.optimizer.learning_rate == 0.01
    assert recipe.training.optimizer.warmup_steps == preset.training.optimizer.warmup_steps
    assert [source.kind for source in recipe.sources] == ["text"]


def test_a_mapping_of_another_kind_replaces_instead_of_merging():
    from firth.recipes.reading.raw_recipes import Origin, RawRecipe, overlay

    base = RawRecipe({"source": {"kind": "text", "paths": []}}, {(): Origin("a")})
    top = RawRecipe({"source": {"kind": "jsonl"}}, {(): Origin("b")})
    assert overlay(base, top).data == {"source": {"kind": "jsonl"}}


@pytest.mark.parametrize("name", often(preset_names(), FEW_PRESETS))
def test_presets_survive_being_written_and_read(name, recipe_file):
    recipe = load_recipe(name)
    assert recipe.name == name
    assert load_recipe(recipe_file(recipe_to_yaml(recipe))) == recipe
    assert Recipe.from_json(recipe.to_json()) == recipe


@pytest.mark.parametrize("option, path, value", [
    ("training.steps=500", "training.steps", 500),
    ("training.optimizer.learning_rate=1e-4", "training.optimizer.learning_rate", 1e-4),
    ("training.optimizer.gradient_clip_norm=null", "training.optimizer.gradient_clip_norm", None),
    ("tokenizer.lowercase=false", "tokenizer.lowercase", False),
    ("training.precision=mixed_bfloat16", "training.precision", "mixed_bfloat16"),
    ("training.optimizer={epsilon: 1e-8}", "training.optimizer.epsilon", 1e-8),
])  # fmt: skip
def test_overrides(option, path, value):
    found = load_recipe("bert_mini", [option])
    for key in path.split("."):
        found = getattr(found, key)
    assert found == value


@pytest.mark.parametrize("option, problem", [
    ("cleaning.limits.max_dropped_fractoin=0.6",
     "cleaning.limits.max_dropped_fractoin: unknown key; did you mean max_dropped_fraction?"),
    ("cleaning.limits.max_source_fraction=1.5",
     "cleaning.limits.max_source_fraction: must be less than or equal to 1, not 1.5"),
    ("cleaning.limits.steps=[{step: lenght, max_dropped_fraction: 0.1}]",
     "cleaning: limits.steps.0: no step is named 'lenght'; did you mean length?"),
])  # fmt: skip
def test_limits_of_a_corpus_that_make_no_sense_are_refused(option, problem):
    assert problems_of("bert_mini", option) == [f"--set {option}: {problem}"]


def test_later_overrides_win_and_lists_are_counted():
    options = ["sources.0.name=a", "sources.0.name=b", "evaluation.thresholds=[]"]
    recipe = load_recipe("bert_mini", options)
    assert (recipe.sources[0].name, recipe.evaluation.thresholds) == ("b", ())


@pytest.mark.parametrize("option, problem", [
    ("training.steps", "write it as key=value, such as training.steps=500"),
    ("trainign.steps=5", "trainign: unknown key; did you mean training?"),
    ("training.steps=many", "training.steps: must be a valid integer, not 'many'"),
    ("training.steps=1.5", "training.steps: must be a valid integer, not 1.5"),
    ("training.steps='500'", "training.steps: must be a valid integer, not '500'"),
    ("training.steps.x=1", "x: leads below a plain value, 20000"),
    ("sources.7.name=a", "7: no place in a list of 1, counted from 0"),
    ("sources.0.kind=tex", "sources.0: kind: unknown kind 'tex'; did you mean text?"),
    ("model.attention.heads=7", "model: attention.heads: 7 does not divide width: 256"),
    ("model.width=255", "model: attention.heads: 4 does not divide width: 255"),
    ("sequences.length=513", "sequences.length: 513 is above model.positions.length: 512"),
    ("model.heads=4", "model.heads: unknown key; did you mean model.attention.heads?"),
    ("training.optimizer.clip_threshold=2.0",
     "training.optimizer.clip_threshold: unknown key; a part of kind: adafactor has it"),
    ("objective.kind=causal_lm", "objective.kind: causal_lm needs model.kind: causal_transformer, "
                                 "not masked_transformer, which objective.kind: masked_lm, "
                                 "objective.kind: span_masking, objective.kind: replaced_token_detection, "
                                 "objective.kind: unilm can train"),
    ("model.attention.key_value_heads=3", "model.attention: key_value_heads: 3 does not divide heads: 4"),
])  # fmt: skip
def test_refused_overrides_name_the_option(option, problem):
    assert problems_of("bert_mini", option) == [f"--set {option}: {problem}"]


@pytest.mark.parametrize("preset, option, problem", [
    ("t5_tiny", "model.positions.buckets=3", "model.positions.buckets: must be greater than or equal to 4"),
    ("albert_tiny", "model.share_layers.groups=3", "share_layers.groups: 3 is above 2"),
    ("albert_tiny", "model.share_layers.blocks=3", "share_layers.blocks: 3 does not divide layers: 2"),
    ("t5_tiny", "model.positions.max_distance=16", "buckets: 32 must be below 2 x max_distance: 16"),
    ("t5_tiny", "tokenizer.sentinels=3", "set tokenizer.sentinels: "),
    ("deberta_v3_tiny", "model.positions.max_distance=17", "buckets: 32 must be below 2 x max_distance: 17"),
    ("deberta_v3_tiny", "model.attention.key_value_heads=1", "not work with positions.kind: disentangled"),
    ("deberta_v3_tiny", "model.attention.query_key_norm=true", "not work with positions.kind: disentangled"),
    ("xlnet_tiny", "model.attention.query_key_norm=true", "does not work with kind: two_stream_transformer"),
    ("bert_tiny", "objective.first_mask_rate=0.3", "is 38, above objective.max_predictions: 20"),
    ("modernbert_tiny", "model.local_attention.window=33", "window: 33 is odd"),
    ("llama_tiny", "model.positions.local_base=100.0", "positions.local_base: it needs local_attention"),
    ("bert_tiny", "model.norm.first=false", "first: false needs placement: pre"),
    ("modernbert_tiny", "model.share_layers={groups: 1}", "share_layers: it does not work with norm.first"),
    ("deberta_v3_tiny", "model.local_attention={}", "local_attention: it does not work with position"),
    ("elmo_tiny", "objective.z_loss=1e-4", "it needs negatives: null"),
    ("deberta_v3_tiny", "objective.mask_decoder.length=64", "is above objective.mask_decoder.length: 64"),
    ("electra_tiny", "objective.mask_decoder.passes=2", "needs model.positions.kind: disentangled"),
    ("roberta_tiny", "objective.mask_decoder.passes=2", "needs model.positions.kind: disentangled"),
    (
        "deberta_v3_tiny",
        "objective={kind: masked_lm, mask_decoder: {length: 128}}",
        "mask_decoder needs next_sentence: false",
    ),
    ("spanbert_tiny", "objective.mask_decoder.passes=2", "mask_decoder: unknown key"),
    ("xlnet_tiny", "model.attention.key_value_heads=1", "does not work with kind: two_stream_transformer"),
    ("llama_tiny", "model.attention.head_width=15", "attention.head_width: 15 is odd"),
    ("gpt2_tiny", "model.embeddings.segments=2", "a causal transformer has no segments"),
    ("gpt2_tiny", "sequences.length=129", "sequences.length: 129 is above model.positions.length: 128"),
    ("electra_tiny", "objective.generator_width_fraction=0.77", "heads: 2 does not divide width: 99"),
    ("spanbert_tiny", "model.embeddings.width=64", "needs model.embeddings.width: 128, not 64"),
    ("elmo_tiny", "tokenizer.max_characters=20", "is not model.characters.max_characters: 50"),
])  # fmt: skip
def test_parts_that_cannot_work_together(preset, option, problem):
    (found,) = problems_of(preset, option)
    assert found.startswith(f"--set {option}: ") and problem in found


def test_another_kind_starts_its_part_anew():
    recipe = load_recipe("bert_mini", ["model.positions.kind=rotary", "objective.kind=span_masking"])
    assert recipe.model.positions == RotaryPositionsConfig()
    assert recipe.objective == SpanMasking()
    assert load_recipe("bert_mini", ["model.positions.kind=learned"]) == load_recipe("bert_mini")


def test_an_unreadable_value_names_the_option():
    (problem,) = problems_of("bert_mini", "training.steps=[")
    assert problem.startswith("--set training.steps=[: not YAML: ")


def test_every_problem_is_listed_with_its_place(recipe_file):
    path = recipe_file(
        "extends: bert_mini\n"
        "training:\n"
        "  stepz: 5\n"
        "  learning_rate: 1e-3\n"
        "  precision: float16\n"
        "model: {attention: {heads: '4'}}\n"
        "sources:\n"
        "  - kind: jsonll\n"
        "  - kind: text\n"
    )
    assert sorted(problems_of(path)) == [
        f"{path}:3:3: training.stepz: unknown key; did you mean steps?",
        f"{path}:4:3: training.learning_rate: unknown key; did you mean training.optimizer.learning_rate?",
        f"{path}:5:3: training.precision: 'float16' is not a choice here; did you mean float32?",
        f"{path}:6:21: model.attention.heads: must be a valid integer, not '4'",
        f"{path}:8:5: sources.0: kind: unknown kind 'jsonll'; did you mean jsonl?",
        f"{path}:9:5: sources.1.paths: required, but not given",
    ]


def test_every_conflict_between_parts_is_listed(recipe_file):
    parts = (
        "sequences: {length: 1024}\nobjective: {max_predictions: 2000}\nmodel: {embeddings: {segments: 1}}\n"
    )
    path = recipe_file(f"extends: bert_mini\n{parts}")
    problems = problems_of(path)
    assert problems[0] == f"{path}:2:13: sequences.length: 1024 is above model.positions.length: 512"
    assert problems[1] == f"{path}:3:13: objective.max_predictions: 2000 is above sequences.length: 1024"
    assert problems[2] == f"{path}:4:22: objective.kind: masked_lm with pairs " + (
        "needs model.embeddings.segments: 2, or 0 for none"
    )


def test_a_carried_state_needs_one_device():
    with pytest.raises(RecipeError, match=r"mirrored .*model"):
        load_recipe("elmo_small", ["training.strategy=mirrored"])


@pytest.mark.parametrize("metric", ["text_perplexity", "unigram_perplexity", "bits_per_byte", "mlm_accuracy"])
def test_metrics_of_every_objective_may_have_a_threshold(recipe_file, metric):
    path = recipe_file(
        f"extends: bert_tiny\nevaluation: {{thresholds: [{{metric: {metric}, upper_bound: 9}}]}}\n"
    )
    assert load_recipe(path).evaluation.thresholds[0].metric == metric


def test_a_threshold_on_a_loss_that_the_objective_lacks(recipe_file):
    path = recipe_file(
        "extends: gpt2_tiny\nevaluation: {thresholds: [{metric: mlm_accuracy, lower_bound: 0}]}\n"
    )
    assert (
        "mlm_accuracy is not a metric of objective.kind: causal_lm; did you mean lm_accuracy?"
        in problems_of(path)[0]
    )


@pytest.mark.parametrize("text, place, problem", [
    ("a: [1\n", ":2:1", "not YAML"),
    ("name: a\nname: b\n", ":2:1", "name: given twice, first at"),
    ("model: {width: 8, width: 9}\n", ":1:19", "model.width: given twice"),
    ("1: 2\n", ":1:1", "the key '1' is not text"),
    ("extends: berd_mini\n", ":1:1", "did you mean bert_mini?"),
    ("name: !!python/name:os.system x\n", ":1:7", "not YAML"),
    ("a: &x [*x]\n", ":1:4", "an alias that contains itself"),
    ('description: "\\ud800"\n', ":1:14", "description: '\\ud800' is neither text"),
    ("a: !!timestamp 2024-01-01\n", ":1:4", "a: '2024-01-01' is neither text"),
    ("a: 1\n---\nb: 2\n", ":2:1", "found another document"),
    ("- a\n", "", "a recipe is a mapping"),
    ("", "", "a recipe is a mapping"),
])  # fmt: skip
def test_unreadable_files(recipe_file, text, place, problem):
    path = recipe_file(text)
    (found,) = problems_of(path)
    assert found.startswith(f"{path}{place}: ") and problem in found


def test_files_that_are_not_there(recipe_file, tmp_path):
    recipe_file("", "books.yaml")
    assert problems_of(tmp_path / "bookz.yaml") == [
        f"{tmp_path}/bookz.yaml: no such file; did you mean {tmp_path}/books.yaml?"
    ]
    assert "Is a directory" in problems_of(tmp_path)[0]
    (tmp_path / "latin.yaml").write_bytes(b"name: caf\xe9")
    assert problems_of(tmp_path / "latin.yaml") == [f"{tmp_path}/latin.yaml: not UTF-8 at byte 9"]


def test_an_unknown_preset_gets_the_nearest():
    (problem,) = problems_of("bert_minni")
    assert problem.startswith("no preset is named 'bert_minni'; did you mean bert_mini?")


def test_a_warm_up_longer_than_the_training_is_noticed():
    assert notices(load_recipe("bert_base")) == []
    assert "peaks at 5e-05" in notices(load_recipe("bert_base", ["training.steps=5000"]))[0]


def test_a_repair_that_serving_cannot_repeat_is_noticed():
    for mojibake, count in (("true", 1), ("false", 0)):
        steps = f"cleaning.steps=[{{kind: normalize, mojibake: {mojibake}}}]"
        assert len(notices(load_recipe("bert_base", [steps]))) == count


def test_a_rate_that_does_not_rise_has_no_peak_to_miss():
    assert notices(load_recipe("t5_base", ["training.steps=5000"])) == []
