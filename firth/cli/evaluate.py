"""`firth evaluate`: scores of an evaluation harness, asked of a server of the model."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from firth import storage
from firth.cli import commands
from firth.cli.output import ExitCode, fail, note
from firth.cli.runs_on_disk import REPORT_FILE, RunOnDisk, run_named
from firth.cli.serve import start

if TYPE_CHECKING:
    from firth.evaluation.harness import HarnessRow, HarnessScore

SCORES_FILE = "harness.json"
_MODULE = "lm_eval"
# Name of the model at its server.
_SERVED = "model"
Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="A run's name below the root, or the folder of an exported model with slots.",
        show_default=False,
    ),
]
Other = Annotated[
    str | None,
    typer.Argument(metavar="[OTHER]", help="Another model, to compare NAME with.", show_default=False),
]
Tasks = Annotated[
    pathlib.Path,
    typer.Option("--tasks", metavar="DIR", help="Folder of tasks as the harness's YAML.", show_default=False),
]
Task = Annotated[
    list[str] | None,
    typer.Option("--task", metavar="TASK", help="Run this task alone; may be given several times."),
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Examples of each task; default: all.")]
Python = Annotated[
    str | None,
    typer.Option(
        "--harness",
        metavar="PYTHON",
        envvar="FIRTH_LM_EVAL",
        show_envvar=True,
        help="Python that has lm-eval[api]; default: this one, if it has.",
    ),
]


def _evaluate(
    name: Name,
    tasks: Tasks,
    other: Other = None,
    task: Task = None,
    limit: Limit = None,
    harness: Python = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    root: commands.Root = commands.DEFAULT_ROOT,
) -> None:
    """Scores an exported model by lm-evaluation-harness, which asks it over OpenAI's API.

    The table goes into the report of NAME, if it is a run, and its figures into harness.json next to it.
    """
    python = _python(harness)
    names = _tasks(tasks, task)
    given = [name] if other is None else [name, other]
    scores = [_scores(each, root, python, tasks, names, limit) for each in given]
    from firth.evaluation.harness import harness_rows

    try:
        rows = harness_rows(scores)
    except ValueError as error:
        fail(str(error))
    said = {"models": given, "rows": [_as_json(row) for row in rows]}
    if as_json:
        typer.echo(json.dumps(said, ensure_ascii=False))
    else:
        _print(given, rows)
    if (run := run_named(root, name)) is not None:
        _keep(run, given, rows, said)


def _python(given: str | None) -> str:
    if given is None and importlib.util.find_spec(_MODULE) is not None:
        return sys.executable
    from firth.evaluation.harness import VERSION

    advice = f"python3.11 -m venv harness && harness/bin/pip install 'lm-eval[api]=={VERSION}'"
    if given is None:
        fail(
            f"lm-eval is not installed here; make an environment for it: {advice}, and say --harness "
            "harness/bin/python",
            ExitCode.USAGE,
        )
    try:
        found = subprocess.run([given, "-c", f"import {_MODULE}"], capture_output=True, check=False)
    except OSError as error:
        fail(f"--harness {given}: {error.strerror}", ExitCode.USAGE)
    if found.returncode:
        fail(f"--harness {given} has no lm-eval: {advice}", ExitCode.USAGE)
    return given


def _tasks(folder: pathlib.Path, asked: Sequence[str] | None) -> list[str]:
    """Returns the names of the tasks in a folder, or of those that are asked for."""
    from firth.evaluation.harness import task_names
    from firth.recipes.base.errors import suggest

    if not storage.is_folder(folder):
        fail(f"--tasks {folder}: there is no such folder", ExitCode.USAGE)
    known = task_names(os.fspath(folder))
    if not known:
        fail(f"--tasks {folder}: no file of it, *.yaml, has a task", ExitCode.USAGE)
    for each in asked or ():
        if each not in known:
            fail(f"--task {each}: {folder} has no such task; {suggest(each, known)}", ExitCode.USAGE)
    return list(asked or known)


def _scores(
    name: str, root: pathlib.Path, python: str, tasks: pathlib.Path, names: Sequence[str], limit: int | None
) -> "list[HarnessScore]":
    from firth.evaluation.harness import harness_arguments, read_harness

    # The harness reads a name such as 1, the folder of a version, as a number.
    server = start(
        [f"{_SERVED}={name.partition('=')[2] or name}"], root, logs=False, port=0, reload_seconds=0.0
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    model = server.models.names[0]
    try:
        with server.models.lease(model) as version, storage.scratch_folder() as output:
            if version.slots is None:
                fail(f"{name} has no slots: export a model that writes with export.slots: 1 or more")
            longest = version.slots.described["prompt_lengths"][-1]
            arguments = harness_arguments(
                model, server.address, os.path.abspath(tasks), names, output, longest
            )
            if limit is not None:
                arguments += ["--limit", str(limit)]
            note(f"{name}: {len(names)} tasks, by the harness of {python}")
            # Tasks name their files next to themselves.
            environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
            environment.pop("PYTHONPATH", None)
            done = subprocess.run(
                [python, *arguments], cwd=tasks, env=environment, capture_output=True, text=True, check=False
            )
            if done.returncode:
                fail(f"the harness failed:\n{done.stderr.strip()[-2000:]}")
            return read_harness(output)
    finally:
        server.stop()
        thread.join()


def _print(names: Sequence[str], rows: "Sequence[HarnessRow]") -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("task")
    table.add_column("score")
    for header in ("examples", *names, *(["difference"] if len(names) > 1 else [])):
        table.add_column(header, justify="right")
    for row in rows:
        values = [*row.values, *([row.difference] if row.difference is not None else [])]
        table.add_row(
            row.task,
            row.metric,
            "-" if row.examples is None else f"{row.examples:,}",
            *(
                f"{each.value:.3f}" + (f" ({each.low:.3f} to {each.high:.3f})" if row.examples else "")
                for each in values
            ),
        )
    Console(soft_wrap=True).print(table)


def _as_json(row: "HarnessRow") -> dict[str, object]:
    found = row._asdict()
    found["values"] = [each._asdict() for each in row.values]
    found["difference"] = None if row.difference is None else row.difference._asdict()
    return found


def _keep(run: RunOnDisk, names: Sequence[str], rows: "Sequence[HarnessRow]", said: object) -> None:
    """Writes the scores next to a run's report, and into it."""
    from firth.reports.page import with_harness

    storage.write_json(os.fspath(run.directory / SCORES_FILE), said)
    report = run.directory / REPORT_FILE
    if storage.exists(report):
        page = with_harness(storage.read_text(os.fspath(report)), names, rows)
        storage.write_text(os.fspath(report), page)
        note(f"the table is in {report}#harness")


register = commands.registrar(
    "evaluate",
    _evaluate,
    "firth evaluate gpt2_tiny --tasks examples/harness --harness harness/bin/python",
    "firth evaluate gpt2_tiny gpt2_mini --tasks examples/harness --task firth_blimp",
    after="Slots are needed: a recipe of a model that writes has export.slots.",
)
