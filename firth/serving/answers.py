"""Answers to a text as they are printed, for programs and for people, as the exported model describes it."""

import json
from collections.abc import Mapping
from typing import Any

import jinja2.sandbox


def told(answer: Mapping[str, Any], outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the printed fields of a signature's outputs for one text.

    Args:
        answer: Description of the signature's answer, with the keys of `Answer`; empty to tell all outputs.
        outputs: The outputs by name, as lists, numbers and strings.

    Example:

    >>> described = {"outputs": {"pieces": "piece", "scores": "score"}, "count": "found", "records": "masks"}
    >>> told(described, {"pieces": ["a", "b", ""], "scores": [0.5, 0.4, 0.0], "found": 2})
    {'masks': [{'piece': 'a', 'score': 0.5}, {'piece': 'b', 'score': 0.4}]}
    """
    names = answer.get("outputs") or {name: name for name in outputs}
    count = outputs[answer["count"]] if answer.get("count") else None
    values = {name: _without_padding(outputs[output], count) for output, name in names.items()}
    return {answer["records"]: _records(values)} if answer.get("records") else values


def lines(answer: Mapping[str, Any], values: Mapping[str, Any]) -> list[str]:
    """Returns an answer as lines for people; without a template, one line for each value.

    Args:
        answer: Description of the signature's answer, with the keys of `Answer`.
        values: What `told` returns.

    Example:

    >>> lines({"lines": "{{ '%.1f' % score }} nats"}, {"score": 0.53})
    ['0.5 nats']
    >>> lines({}, {"score": 0.53})
    ['score: 0.53']
    """
    if not answer.get("lines"):
        return [f"{name}: {json.dumps(value)}" for name, value in values.items()]
    environment = jinja2.sandbox.SandboxedEnvironment(undefined=jinja2.StrictUndefined)
    rendered = environment.from_string(answer["lines"]).render(values)
    return [line for line in rendered.split("\n") if line]


def _without_padding(value: Any, count: int | None) -> Any:
    return value[:count] if isinstance(value, list) else value


def _records(values: Mapping[str, Any]) -> Any:
    """Returns a dict of lists as a list of dicts, at every depth."""
    if not all(isinstance(value, list) for value in values.values()):
        return dict(values)
    return [_records(dict(zip(values, each))) for each in zip(*values.values())]
