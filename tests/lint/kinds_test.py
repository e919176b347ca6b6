"""Places that tell kinds apart outside of their table."""

import pytest

from scripts.lint.kinds import NOT_KINDS, TABLES, faults, kinds_told_apart, told_apart
from scripts.lint.sources import Source, repository_of

KNOWN = {"BACKBONES": {"BiLSTMBackbone"}}


@pytest.mark.parametrize(
    "source",
    [
        # Comparisons.
        'recipe.objective.kind == "causal_lm"',
        'recipe.model.kind in ("bilstm", "t5")',
        'kind = recipe.model.kind\nif kind == "bilstm": ...',
        'shape = recipe.model.kind\nif shape != "bilstm": ...',
        'if (shape := model.kind) == "bilstm": ...',
        'a, b = name, model.kind\nb == "bilstm"',
        'def f(kind):\n    return kind in {"weights"}',
        'data["model"]["kind"] == "bilstm"',
        'data.get("kind") == "pii"',
        'getattr(step, "kind", None) == "pii"',
        'model.kind.startswith("bi")',
        "type(model) is BiLSTMConfig",
        'type(model).__name__ == "BiLSTMConfig"',
        'recipe.objective.heads == "language_model"',
        'recipe.model.architecture == "encoder"',
        'objective.model_architecture in ("encoder", "two_streams")',
        "type(model) in (models.BiLSTMConfig, models.EncoderDecoderConfig)",
        # Types, and bases that only some kinds have.
        "isinstance(objective, MaskedLM | UniLM)",
        "isinstance(tokenizer, WordTokenizerConfig)",
        "isinstance(backbone, BiLSTMBackbone)",
        "isinstance(model, model_types.BiLSTMConfig)",
        "isinstance(model, (model_types.BiLSTMConfig, int))",
        "isinstance(source, DocstringsSource)",
        "isinstance(source, RecordSource)",
        "isinstance(step, PiiStep)",
        "isinstance(mixture, AsIs)",
        "isinstance(optimizer, recipes.AdagradConfig)",
        "issubclass(config, TransformerConfig)",
        # Match statements.
        'match model.kind:\n    case "bilstm": ...',
        'match kind:\n    case "t5" | "bilstm": ...',
        "match model:\n    case BiLSTMConfig(): ...",
        "match model:\n    case models.BiLSTMConfig(layers=1): ...",
        'match model:\n    case Part(kind="bilstm"): ...',
        'match data:\n    case {"kind": "bilstm"}: ...',
        # Lists and tables.
        'NAMES = {"masked_lm": 1, "causal_lm": 2}',
        "NAMES = {BiLSTMConfig: 1}",
        "NAMES = {models.BiLSTMConfig: 1}",
        'ENCODERS = ("masked_transformer", "bilstm")',
        'ENCODERS = {"masked_transformer", "bilstm"}',
        "NAMES[model.kind]",
        "module.NAMES[model.kind]",
        "NAMES.get(model.kind, 1)",
        "shape = model.kind\nNAMES[shape]",
    ],
)
def test_telling_kinds_apart_is_noticed(source):
    assert len(told_apart(Source("a.py", source), KNOWN)) >= 1


@pytest.mark.parametrize(
    "source",
    [
        'record.header.kind == "response"',
        "model.architecture == objective.model_architecture",
        'self.architecture == "decoder"',
        "stack.attention.heads == 4",
        'unit == "words"',
        "BACKBONES[config.kind](config)",
        "tables.BACKBONES.get(config.kind)",
        "counts[step.kind] += 1",
        'row = {"text": text, "length": 3}',
        "isinstance(step, CleaningStep)",
        'match unit:\n    case "words": ...',
        'f"{model.kind} has no decoder"',
    ],
)
def test_asking_a_kind_is_allowed(source):
    assert told_apart(Source("a.py", source), KNOWN) == []


def test_a_second_table_is_noticed_next_to_the_first():
    table = 'SOURCES = {"text": 1, "jsonl": 2}\n'
    place = "corpus/readers/sources.py"
    assert kinds_told_apart(Source(place, table), {}) == []
    found = kinds_told_apart(Source(place, table + 'if source.kind == "text": ...'), {})
    assert found == [(2, "source.kind == 'text'")]
    assert len(kinds_told_apart(Source("corpus/x.py", table), {})) == 1


def test_tables_are_asked_and_needed():
    table = 'NAMES = {"masked_lm": Masked, "causal_lm": 2}'
    texts = dict.fromkeys([*TABLES, *NOT_KINDS], table) | {"a.py": "NAMES[goal.kind]"}
    assert list(faults(repository_of(texts))) == []
    (found,) = faults(repository_of({**texts, "a.py": "\nisinstance(goal, Masked)"}))
    assert str(found).startswith("firth/a.py:2: `isinstance(goal, Masked)` tells kinds apart")
    for other in (
        {**texts, "tuning/method_kinds.py": ""},
        {each: texts[each] for each in texts if each != "tuning/method_kinds.py"},
    ):
        (found,) = faults(repository_of(other))
        assert found.path == "scripts/lint/kinds.py" and found.line > 1
        assert found.sentence == "`tuning/method_kinds.py`: the file lists no kinds; remove the entry"
