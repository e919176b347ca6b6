import io
import re

import pytest
from rich.console import Console

from firth.cli.progress import LiveLines, PlainLines, drawing, live_progress

EVENTS = [
    {"kind": "changes", "lines": ["a.b: [1], in this folder's last run [2]"]},
    {"kind": "component", "name": "Curator", "state": "running"},
    {"kind": "component", "name": "Curator", "state": "cached", "seconds": 0.1, "peak_bytes": 1},
    {"kind": "component", "name": "Trainer", "state": "running", "number": 9, "of": 12, "left": 600.0},
    *(
        {
            "kind": "training",
            "step": step,
            "steps": 100,
            "loss": 6.5,
            "tokens_per_second": 5210.0,
            "eta_seconds": None if step == 1 else 9.0 * (step < 100),
            "run_left": None,
        }
        for step in range(1, 101)
    ),
    {"kind": "notice", "text": "the run resumes at step 3 [bold]"},
    {
        **{"kind": "estimate", "steps": 20_000, "seconds": 11_400.0, "tokens_per_second": 12_000.0},
        **{"run_left": 11_520.0, "unknown": 0},
    },
    {"kind": "component", "name": "Trainer", "state": "finished", "seconds": 75.0, "peak_bytes": 2e9},
    {"kind": "component", "name": "Pusher", "state": "running"},
    {"kind": "component", "name": "Pusher", "state": "failed", "seconds": 1.0, "peak_bytes": 1e9},
]


def draw_all(live):
    console = Console(file=io.StringIO(), force_terminal=live, width=120, color_system=None, soft_wrap=True)
    with drawing(console, live) as draw:
        for event in EVENTS:
            draw(event)
    return console.file.getvalue()


@pytest.mark.parametrize("live", [False, True])
def test_each_component_has_its_line(live):
    text = re.sub(r"\x1b\[[?\d]*[a-zA-Z]|\r", "\n", draw_all(live))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    for expected in (
        "changed a.b: [1], in this folder's last run [2]",
        "cached Curator",
        "note the run resumes at step 3 [bold]",
        "about 3 h 12 min left of the run: 3 h 10 min for 20,000 steps, 12,000 tokens/s, and 2 min 0 s "
        "after them",
        "done Trainer 1 min 15 s 2.0 GB",
        "failed Pusher 1.0 s 1.0 GB",
    ):
        assert lines.count(expected) == 1


def test_the_bar_shows_step_loss_speed_and_time_left():
    progress = live_progress(Console(file=io.StringIO()))
    lines = LiveLines(progress)
    for event in EVENTS[:51]:
        lines.draw(event)
    (task,) = progress.tasks
    assert (task.description, task.completed, task.total) == ("Trainer", 47, 100)
    assert task.fields["detail"] == "step 47 of 100, loss 6.500, 5,210 tokens/s, 9.0 s of steps left"
    lines.draw({**EVENTS[50], "run_left": 75.0})
    assert progress.tasks[0].fields["detail"].endswith("5,210 tokens/s, 1 min 15 s of the run left")


def test_the_component_that_runs_has_a_line_or_a_bar():
    assert "runs Trainer, 9 of 12, about 10 min 0 s of the run left" in " ".join(draw_all(live=False).split())
    short = {"kind": "component", "name": "Pusher", "state": "running", "number": 12, "of": 12}
    progress = live_progress(console := Console(file=io.StringIO()))
    LiveLines(progress).draw({**short, "left": 0.01})
    assert progress.tasks[0].fields["detail"] == "12 of 12, about 1.0 s of the run left"
    PlainLines(console).draw({**short, "left": 0.01, "expected": 0.01})
    assert console.file.getvalue() == ""


def test_it_is_never_told_that_nothing_is_left():
    assert " 0.0 s" not in draw_all(live=False) and " 0.0 s" not in draw_all(live=True)


def test_without_a_terminal_there_are_few_lines_and_no_control_characters():
    output = draw_all(live=False)
    assert "\x1b" not in output and "\r" not in output
    steps = [line for line in output.splitlines() if " of 100:" in line]
    assert len(steps) == 10
    assert steps[0].strip() == "step 10 of 100: loss 6.500, 5,210 tokens/s, 9.0 s of steps left"


def test_without_a_terminal_a_slow_training_still_speaks():
    now = [0.0]
    console = Console(file=io.StringIO(), width=120)
    lines = PlainLines(console, clock=lambda: now[0])
    for step in range(1, 6):
        now[0] += 40.0
        lines.draw({**EVENTS[4], "step": step, "steps": 100_000})
    assert console.file.getvalue().count("step") == 5
