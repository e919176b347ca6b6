"""Prints answers to a text, for programs and for people, as the exported model describes them."""

import json
from collections.abc import Mapping
from typing import Any

import jinja2.sandbox

# Outputs of every signature on how much of the texts was read; see `descriptions.output.reading`.
READING = ("truncated", "tokens_read", "tokens_given")


def printed_fields(answer: Mapping[str, Any], outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the printed fields of a signature's outputs for one text, and how much of the text was read.

    Example:

    >>> described = {"outputs": {"pieces": "piece", "scores": "score"}, "count": "found", "records": "masks"}
    >>> printed_fields(described, {"pieces": ["a", "b", ""], "scores": [0.5, 0.4, 0.0], "found": 2})
    {'masks': [{'piece': 'a', 'score': 0.5}, {'piece': 'b', 'score': 0.4}]}
    >>> outputs = {"label": "yes", "truncated": True, "tokens_read": 126}
    >>> printed_fields({"outputs": {"label": "label"}}, outputs)
    {'label': 'yes', 'truncated': True, 'tokens_read': 126}
    """
    names = answer.get("outputs") or {name: name for name in outputs}
    count = outputs[answer["count"]] if answer.get("count") else None
    values = {name: _without_padding(outputs[output], count) for output, name in names.items()}
    made = {answer["records"]: _records(values)} if answer.get("records") else values
    return {**made, **{name: outputs[name] for name in READING if name in outputs}}


def answer_lines(answer: Mapping[str, Any], values: Mapping[str, Any]) -> list[str]:
    """Returns an answer as lines for people; without a template, one line for each value.

    Example:

    >>> answer_lines({"lines": "{{ '%.1f' % score }} nats"}, {"score": 0.53})
    ['0.5 nats']
    >>> answer_lines({}, {"score": 0.53})
    ['score: 0.53']
    >>> answer_lines({}, {"score": 0.53, "truncated": True})
    ['score: 0.53', 'truncated: the end of it was not read']
    """
    read = [reading_line(values)] if values.get("truncated") else []
    if not answer.get("lines"):
        own = {name: value for name, value in values.items() if name not in READING}
        return [*(f"{name}: {json.dumps(value)}" for name, value in own.items()), *read]
    environment = jinja2.sandbox.SandboxedEnvironment(undefined=jinja2.StrictUndefined)
    rendered = environment.from_string(answer["lines"]).render(values)
    return [*(line for line in rendered.split("\n") if line), *read]


def reading_line(values: Mapping[str, Any]) -> str:
    """Returns how much of a text was read, which was not read whole.

    Example:

    >>> reading_line({"truncated": True, "tokens_read": 126, "tokens_given": 7804})
    'truncated: 126 of 7,804 tokens were read'
    """
    if "tokens_read" not in values:
        return "truncated: the end of it was not read"
    return f"truncated: {values['tokens_read']:,} of {values['tokens_given']:,} tokens were read"


def _without_padding(value: Any, count: int | None) -> Any:
    return value[:count] if isinstance(value, list) else value


def _records(values: Mapping[str, Any]) -> Any:
    """Returns a dict of lists as a list of dicts, at every depth."""
    if not all(isinstance(value, list) for value in values.values()):
        return dict(values)
    return [_records(dict(zip(values, each))) for each in zip(*values.values())]
