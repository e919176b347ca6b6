"""Warnings next to an answer: about the model that answers, and about its head."""

import pathlib

from firth.cli.runs_on_disk import RunOnDisk


def notes(run: RunOnDisk, serving: pathlib.Path, signature: str) -> list[str]:
    """Returns warnings about the model that answers, a line each."""
    from firth.pipelines.blessing import newest_version

    served = newest_version(serving)
    found = [] if served is None else [_other_run(run, served), _fresh_heads(run, served, signature)]
    return [f"note: {each}" for each in found if each]


def _other_run(run: RunOnDisk, served: pathlib.Path) -> str:
    """Returns a warning where the last run is not the one whose model answers."""
    pushed = run.summary.get("pushed") if run.is_finished else None
    if pushed is not None and pathlib.Path(pushed).name == served.name:
        return ""
    last = f"its model is {pushed}" if pushed is not None else f"it is {run.state}"
    reasons = "; ".join(run.summary.get("reasons", ())) if run.is_finished and pushed is None else ""
    because = f" ({reasons})" if reasons else ""
    return f"{served} answers, which another run pushed. Of the last run: {last}{because}"


def _fresh_heads(run: RunOnDisk, served: pathlib.Path, signature: str) -> str:
    """Returns a warning where a head answers that nobody has trained."""
    from firth.serving.description import read_description

    heads = [path for path in run.summary.get("fresh", ()) if path.startswith("heads/")]
    if not (run.imported_from and heads):
        return ""
    try:
        described = read_description(str(served))["signatures"].get(signature, {})
    except ValueError:
        return ""
    if not described.get("reads_heads"):
        return ""
    layers = ", ".join(dict.fromkeys("/".join(path.split("/")[:2]) for path in heads))
    return (
        f"the answer is random: the imported files have no {layers}, so it was made fresh; "
        f"train it first, with firth finetune or firth run --base {run.directory.name}"
    )
