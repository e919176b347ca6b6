"""Bodies of requests in JSON: read by a type, with the parameter that an error is about."""

import collections
import contextlib
import json
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

import pydantic
from starlette.requests import Request

from firth.recipes.base.errors import suggest
from firth.serving.server.errors import RequestError

# Most errors of a body of which one is named.
_MOST_ERRORS = 10_000


class Body(pydantic.BaseModel):
    """Base of the bodies of requests.

    A parameter that is not a field is refused with its name, since an answer without it would be another one
    than was asked for. Types are those of JSON: a text is not a number.
    """

    model_config = pydantic.ConfigDict(
        extra="forbid", strict=True, frozen=True, allow_inf_nan=False, use_attribute_docstrings=True
    )

    neutral: ClassVar[Mapping[str, tuple[Any, ...]]] = {}
    """Values that change nothing of fields that are not honoured; null is always one of them."""
    ignored: ClassVar[tuple[str, ...]] = ()
    """Fields that are accepted with any value, and that no answer depends on."""


AnyBody = TypeVar("AnyBody", bound=Body)


async def read_body(kind: type[AnyBody], request: Request) -> AnyBody:
    """Returns the body of a request.

    Raises:
        RequestError: 400, naming the parameter that is unknown, missing, not valid or not honoured.
    """
    return parse_body(kind, await request.body())


def parse_body(kind: type[AnyBody], content: bytes | str) -> AnyBody:
    """Returns a body of JSON.

    Raises:
        RequestError: 400, naming the parameter that is unknown, missing, not valid or not honoured.

    Example:

    >>> class Two(Body):
    ...     first: int
    ...     second: str = ""
    >>> parse_body(Two, '{"first": 1}')
    Two(first=1, second='')
    >>> try:
    ...     parse_body(Two, '{"first": 1, "secnod": "a"}')
    ... except RequestError as error:
    ...     print(error, error.parameter)
    secnod: unknown parameter; did you mean second? secnod
    >>> try:
    ...     parse_body(Two, '{"first": 1, "first": 2}')
    ... except RequestError as error:
    ...     print(error)
    first: the key is given twice
    """
    try:
        body = kind.model_validate_json(content)
    except pydantic.ValidationError as error:
        # A list of many errors takes longer to make than the body to read.
        if unknown := _unknown_in(kind, content):
            raise _refusal_unknown(kind, unknown) from None
        if error.error_count() > _MOST_ERRORS:
            raise RequestError(f"the body has {error.error_count():,} errors") from None
        raise _refusal(kind, error.errors(include_url=False, include_context=False)) from None
    if place := _twice_in(json.loads(content, object_pairs_hook=_Members, parse_int=str)):
        name = place.partition(".")[0]
        raise RequestError(f"{place}: the key is given twice", 400, name)
    for name, values in kind.neutral.items():
        given = getattr(body, name)
        if given is not None and given not in values:
            allowed = "null" if not values else ", ".join(map(repr, values))
            raise RequestError(
                f"{name}: this server does not honour it; leave it out, or {allowed}", 400, name
            )
    return body


class _Members(dict[str, Any]):
    """An object of JSON that remembers the path of a key which it, or an object in it, has twice."""

    def __init__(self, members: list[tuple[str, Any]]) -> None:
        super().__init__(members)
        self.twice = ""
        if len(self) < len(members):
            counts = collections.Counter(name for name, _ in members)
            self.twice = counts.most_common(1)[0][0]
        self.twice = self.twice or next(
            (f"{name}.{place}" for name, value in members if (place := _twice_in(value))), ""
        )


def _twice_in(value: Any) -> str:
    if isinstance(value, _Members):
        return value.twice
    if isinstance(value, list):
        return next(
            (f"{number}.{found}" for number, each in enumerate(value) if (found := _twice_in(each))), ""
        )
    return ""


def _unknown_in(kind: type[Body], content: bytes | str) -> str:
    """Returns the first key of a body that is not a field; empty for none."""
    with contextlib.suppress(ValueError, RecursionError):
        body = json.loads(content, parse_int=str)
        if isinstance(body, dict):
            return next((name for name in body if name not in kind.model_fields), "")
    return ""


def _refusal_unknown(kind: type[Body], name: str) -> RequestError:
    hint = suggest(name, kind.model_fields)
    return RequestError(f"{name}: unknown parameter; {hint}", 400, name)


def _refusal(kind: type[Body], errors: Any) -> RequestError:
    # A union has an error for each of its kinds; the deepest one is about the kind that was meant.
    first = max(errors, key=lambda each: (each["type"] == "extra_forbidden", len(each["loc"])))
    if not first["loc"]:
        return RequestError(f"the body is not a JSON object: {first['msg']}")
    name = str(first["loc"][0])
    if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
        return _refusal_unknown(kind, name)
    if first["type"] == "missing" and len(first["loc"]) == 1:
        return RequestError(f"{name}: required", 400, name)
    place = ".".join(str(each) for each in first["loc"] if isinstance(each, int) or each.isidentifier())
    return RequestError(f"{place}: {first['msg']}", 400, name)
