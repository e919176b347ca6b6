"""Recipes and options that cannot work: what each is, and the words that its refusal holds.

Run as a program, it tries them all in one process and prints as JSON what each was answered, and which of the
heavy modules were loaded at the end.
"""

# ruff: noqa: E501 (a case a line)

import contextlib
import functools
import io
import json
import os
import pathlib
import sys

BOMB = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9))
TEXT = "sources: [{kind: text, paths: [good.txt]}]\n"
HEAVY = ("tensorflow", "tfx", "keras", "apache_beam")
# Each a text of `mine.yaml`, and words of its refusal.
FILES = {
    "no sources": ("name: a", "mine.yaml: sources: required"),
    "aliases six deep": (BOMB, "mine.yaml:1:10: more than 20,000 values"),
    "nested": ("a: " + "[" * 900, "mine.yaml:1:54: nested more than 50 deep"),
    "too large": ("description: " + "x" * 300_000, "larger than a recipe may be"),
    "twice": ("seed: 1\nseed: 2\n", "mine.yaml:2:1: seed: given twice, first at mine.yaml:1:1"),
    "tab": ("training:\n\tsteps: 5\n", "mine.yaml:2:1: not YAML"),
    "open bracket": ("sources: [\n", "not YAML"),
    "two documents": (f"{TEXT}---\nseed: 1\n", "another document"),
    "a list": ("- seed: 1\n", "a recipe is a mapping"),
    "a sentence": ("hello", "a recipe is a mapping"),
    "extends itself": ("extends: mine.yaml\n", "mine.yaml:1:1: extends: mine.yaml -> mine.yaml goes in a circle"),
    "extends no file": ("extends: god.yaml\n", "god.yaml: no such file; did you mean good.yaml?"),
    "extends no preset": ("extends: bert_minni\n", "mine.yaml:1:1: extends: no preset is named 'bert_minni'"),
    "name of folders": (f"name: ../../evil\n{TEXT}", "mine.yaml:1:1: name: "),
    "name of spaces": (f"name: a b\n{TEXT}", "mine.yaml:1:1: name: "),
    "unknown key": (f"{TEXT}trainign: {{}}\n", "mine.yaml:2:1: trainign: unknown key; did you mean training?"),
    "key elsewhere": (f"{TEXT}batch_size: 4\n", "did you mean training.batch_size?"),
    "missing file": (
        "extends: demo\nsources:\n  - kind: text\n    paths: [goood.txt]\n",
        "mine.yaml:4:13: sources.0.paths.0: {here}/goood.txt matches no file; did you mean {here}/good.txt?",
    ),
    "a folder": ("sources: [{kind: text, paths: [folder]}]\n", "mine.yaml:1:32: sources.0.paths.0: {here}/folder is"),
    "missing word list": (
        TEXT + "cleaning: {steps: [{kind: bad_words, lists: [{path: bad.txt}]}]}\n",
        "mine.yaml:2:47: cleaning.steps.0.lists.0.path: {here}/bad.txt matches no file",
    ),
    "missing URL list": (
        TEXT + "cleaning: {steps: [{kind: url_lists, block: [{path: goood.txt}]}]}\n",
        "mine.yaml:2:47: cleaning.steps.0.block.0.path: {here}/goood.txt matches no file; did you mean {here}/good.txt?",
    ),
    "URL as a domain": (
        TEXT
        + "cleaning: {steps: [{kind: domain_rules, rules: [{domain: 'http://a.example/b', action: drop}]}]}\n",
        "cleaning.steps.0.rules.0.domain: 'http://a.example/b' is not a domain or host; did you mean a.example?",
    ),
    "missing benchmark": (
        TEXT + "cleaning: {steps: [{kind: decontaminate, benchmarks: [{kind: text, name: b, paths: [b]}]}]}\n",
        "cleaning.steps.0.benchmarks.0.paths.0: {here}/b matches no file",
    ),
    "package unknown": (
        "sources: [{kind: docstrings, packages: [nmpy]}]\n",
        "mine.yaml:1:41: sources.0.packages.0: no package 'nmpy' is installed; did you mean 'numpy'?",
    ),
    "distribution's name": ("sources: [{kind: docstrings, packages: [PyYAML]}]\n", "is imported as 'yaml'"),
    "dotted package": ("sources: [{kind: docstrings, packages: [os.path]}]\n", "no package 'os.path' is installed"),
    "no package": ("sources: [{kind: docstrings, standard_library: false}]\n", "name at least one package"),
    "compressed parquet": ("sources: [{kind: parquet, paths: [a.parquet.gz]}]\n", "compressed inside"),
    "two of a name": ("sources: [{kind: text, paths: [a]}, {kind: text, paths: [b]}]\n", "two are named 'text'"),
    "empty paths": ("sources: [{kind: text, paths: []}]\n", "mine.yaml:1:24: sources.0.paths"),
    "no such source kind": ("sources: [{kind: pdf, paths: [a]}]\n", "mine.yaml:1:12: sources.0: kind: unknown kind 'pdf'"),
    "number as text": (f"{TEXT}training: {{steps: '5'}}\n", "must be a valid integer, not '5'"),
    "a word that is not true": ("extends: demo\ntokenizer: {lowercase: no}\n", "must be a valid boolean"),
    "infinite": (f"{TEXT}training: {{optimizer: {{learning_rate: 1e999}}}}\n", "is neither text, number"),
    "an integer without digits": (f"{TEXT}seed: !!int ''\n", "mine.yaml:2:7: seed: '' is neither text, number"),
    "a schema that is not there": (
        f"extends: demo\n{TEXT}source_schema: schema.pbtxt\n",
        "mine.yaml:3:1: source_schema: {here}/schema.pbtxt matches no file",
    ),
    "a stage longer than the mask decoder": (
        f"extends: deberta_v3_tiny\n{TEXT}training: {{earlier_stages: [{{length: 4096, steps_fraction: 0.1, batch_size: 4}}]}}\n",
        "training.earlier_stages.0: sequences.length: 4096 is above objective.mask_decoder.length: 128",
    ),
    "a huge stage": (
        f"{TEXT}training: {{earlier_stages: [{{length: 99999999, steps_fraction: 0.1, batch_size: 99999999}}]}}\n",
        "length: must be less than or equal to 16777216",
    ),
    "shared layers as a switch": (
        f"extends: albert_base\n{TEXT}model: {{share_layers: true}}\n",
        "mine.yaml:3:9: model.share_layers: true is written as {groups: 1} now",
    ),
    "a language by its name": (
        TEXT + "cleaning: {steps: [{kind: language, languages: [en, english]}]}\n",
        "mine.yaml:2:53: cleaning.steps.0.languages.1: 'english' is not a choice here; one of: af, am, ",
    ),
    "a language in capitals": (
        TEXT + "cleaning: {steps: [{kind: language, languages: [DE]}]}\n",
        "mine.yaml:2:49: cleaning.steps.0.languages.0: 'DE' is not a choice here; did you mean de?",
    ),
    "a word list's language": (
        TEXT + "cleaning: {steps: [{kind: bad_words, lists: [{path: good.txt, language: eng}]}]}\n",
        "cleaning.steps.0.lists.0.language: 'eng' is not a choice here; did you mean en?",
    ),
    "a country without a telephone": (
        TEXT + "cleaning: {steps: [{kind: pii, phone_regions: [usa]}]}\n",
        "cleaning.steps.0.phone_regions.0: 'usa' is not a choice here; did you mean US?",
    ),
    "priority of no source": (
        TEXT + "cleaning: {steps: [{kind: exact_duplicates, source_priority: [texts]}]}\n",
        "cleaning.steps.0.source_priority: no source is named 'texts'; did you mean text?",
    ),
    "no length between": (
        TEXT + "cleaning: {steps: [{kind: length, min_words: 7, max_words: 5}]}\n",
        "cleaning.steps.0: min_words: 7 is above max_words: 5",
    ),
    "no mean length between": (
        TEXT + "cleaning: {steps: [{kind: gopher_quality, min_mean_word_length: 11}]}\n",
        "cleaning.steps.0: min_mean_word_length: 11.0 is above max_mean_word_length: 10.0",
    ),
    "too many hashes": (
        TEXT + "cleaning: {steps: [{kind: near_duplicates, buckets: 9000, hashes_per_bucket: 20}]}\n",
        "cleaning.steps.0: buckets: 9,000 of 20 hashes are 180,000 hashes",
    ),
    "lines between columns": (
        TEXT + "cleaning: {steps: [{kind: decontaminate, benchmarks: [{kind: csv, name: b, paths: [good.txt], "
        'text_columns: [a], delimiter: "\\n"}]}]}\n',
        "cleaning.steps.0.benchmarks.0.delimiter: must match pattern",
    ),
    "package of C code": (
        "sources: [{kind: docstrings, packages: [sys]}]\n",
        "mine.yaml:1:41: sources.0.packages.0: package 'sys' has no .py file",
    ),
    "reference package unknown": (
        TEXT + "cleaning: {steps: [{kind: classifier, reference_files: [{kind: docstrings, packages: [nmpy]}]}]}\n",
        "cleaning.steps.0.reference_files.0.packages.0: no package 'nmpy' is installed; did you mean 'numpy'?",
    ),
    "python in it": (f"{TEXT}seed: !!python/object:os.x {{b: 1}}\n", "python/object:os.x is not known"),
}  # fmt: skip
# Each a `--set` on bert_tiny, and words of its refusal.
OPTIONS = {
    "tokenizer.vocabulary_size=5000000000": "must be less than or equal to 16777216, not 5000000000",
    "training.steps=1e23": "training.steps: must be a valid integer",
    "training.steps=100000000000000000000000": "must be less than 2147483648",
    "training.steps=0": "must be greater than or equal to 1",
    "training.batch_size=-4": "must be greater than or equal to 1",
    "training.batch_size=99999999999": "must be less than or equal to 16777216",
    "training.optimizer.learning_rate=-1": "must be greater than 0",
    "training.optimizer.learning_rate=1e30": "must be less than or equal to 1000",
    "training.optimizer.warmup_steps=99999999999999999999": "does not fit in 64 bits",
    f"training.log_every_steps=1{'0' * 400}": "log_every_steps: 1.00e+400 does not fit in 64 bits",
    "training.replicas=3": "needs strategy: mirrored",
    "training.precision=float16": "did you mean float32?",
    "model.layers=1000000000": "must be less than or equal to 10000",
    "model.width=1000000000000": "must be less than or equal to 16777216",
    "model.attention.heads=7": "does not divide width",
    "sequences.length=100000000000": "must be less than or equal to 16777216",
    "sequences.length=4096": "is above model.positions.length",
    "sequences.max_documents=1000000000": "must be less than or equal to 65536",
    "sequences.shards=0": "must be greater than or equal to 1",
    "seed=-1": "must be greater than or equal to 0",
    "seed=99999999999": "must be less than 2147483648",
    "export.top_k=900000": "export.top_k: 900000 is above tokenizer.vocabulary_size: ",
    "cleaning.split.eval_fraction=1": "must be less than 1",
    "objective.kind=causal_lm": "needs model.kind: causal_transformer",
    "name=../../evil": "--set name=../../evil: name: ",
    "training": "write it as key=value",
    "=5": "write it as key=value",
    "training.steps=[": "not YAML",
    "sources.7.name=a": "no place in a list of 1",
}
# Each a command line, and words of its refusal.
COMMANDS = {
    "run demo --name ../../evil": "'../../evil' is not a run's name",
    "run demo --name a/b": "'a/b' is not a run's name",
    "run demo --name=": "'' is not a run's name",
    "curate demo --name ..": "'..' is not a run's name",
    "run bert_tiny --root good.txt/runs": "{here}/good.txt is a file; runs need a folder",
    "run bert_tiny --root foldr/runs": "there is no folder {here}/foldr; did you mean {here}/folder/runs?",
    "run bert_tiny --root nowhere/deep/runs": "there is no folder {here}/nowhere/deep; make it first",
    "curate bert_tiny --root /proc/runs": "the folder /proc/runs cannot be made: No such file or directory",
    "run good --root .": "no preset is named 'good'",
    "run bert_tiny --root . --name good.yaml": "'good.yaml' is not a run's name",
    "run demo --text nothing*.txt": "--text nothing*.txt: sources.0.paths.0: {here}/nothing*.txt matches no file",
    "run demo --text god.txt": "did you mean {here}/good.txt?",
    "curate demo --text good.txt": "sources.0: a single document cannot be both trained on and held out",
    "run demo --text good.txt --text-key body": "give --jsonl too",
    "run demo --jsonl good.txt --text-key=": "sources.0.text_key",
    "run demo --workers 0": "--workers",
    "run demo --beam-arg FlinkRunner": "write it as --beam-arg=--runner=FlinkRunner",
    "run demmo": "did you mean demo?",
    "run nowhere/mine.yaml": "nowhere/mine.yaml: no such file",
    "run good.txt": "no preset is named 'good.txt'",
    "run folder.yaml": "cannot be read: Is a directory",
}


def try_all() -> dict[str, tuple[int, str]]:
    """Returns the exit code and the error of each; the working directory is an empty folder."""
    here = pathlib.Path.cwd()
    (here / "good.txt").write_text("Call me Ishmael.")
    (here / "good.yaml").write_text(TEXT)
    for folder in ("folder", "folder.yaml"):
        (here / folder).mkdir()
    answers = {}
    for name, (text, _) in FILES.items():
        (here / "mine.yaml").write_text(text)
        answers[name] = answer("run", "mine.yaml")
    for option in OPTIONS:
        answers[option] = answer("run", "bert_tiny", "--set", option)
    for line in COMMANDS:
        answers[line] = answer(*line.split())
    return answers


def answer(*arguments: str) -> tuple[int, str]:
    """Returns the exit code of one command, and what it says on standard error."""
    from firth.cli.main import app

    with (
        contextlib.redirect_stderr(io.StringIO()) as error,
        contextlib.redirect_stdout(io.StringIO()) as said,
    ):
        try:
            app(list(arguments))
        except SystemExit as end:
            return int(end.code or 0), f"{said.getvalue()}{error.getvalue()}"
    return 0, error.getvalue()


def refuse_to_start(*_: object) -> None:
    """Replaces the pipeline, which no case may reach."""
    raise RuntimeError("it was started")


if __name__ == "__main__":
    from typer import main

    from firth.cli import run
    from firth.pipelines import local

    # Typer builds all commands for each call, and each run measures the machine.
    main.get_command = functools.cache(main.get_command)
    run.matrix_speed = functools.cache(run.matrix_speed)
    local._run_pipeline = refuse_to_start
    os.environ.update(COLUMNS="400", NO_COLOR="1")
    answers = try_all()
    loaded = [name for name in HEAVY if name in sys.modules]
    made = [path.name for path in pathlib.Path.cwd().iterdir()]
    print(json.dumps({"answers": answers, "loaded": loaded, "made": sorted(made)}))
