"""Bodies of requests in JSON: read by a type, with the parameter that an error is about."""

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

import pydantic
from starlette.requests import Request

from firth.recipes.base.errors import suggest
from firth.serving.server.errors import RequestError


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
    """
    try:
        body = kind.model_validate_json(content)
    except pydantic.ValidationError as error:
        raise _refusal(kind, error.errors(include_url=False, include_context=False)) from None
    for name, values in kind.neutral.items():
        given = getattr(body, name)
        if given is not None and given not in values:
            allowed = "null" if not values else ", ".join(map(repr, values))
            raise RequestError(
                f"{name}: this server does not honour it; leave it out, or {allowed}", 400, name
            )
    return body


def _refusal(kind: type[Body], errors: Any) -> RequestError:
    # A union has an error for each of its kinds; the deepest one is about the kind that was meant.
    first = max(errors, key=lambda each: (each["type"] == "extra_forbidden", len(each["loc"])))
    if not first["loc"]:
        return RequestError(f"the body is not a JSON object: {first['msg']}")
    name = str(first["loc"][0])
    if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
        hint = suggest(name, kind.model_fields)
        return RequestError(f"{name}: unknown parameter; {hint}", 400, name)
    if first["type"] == "missing" and len(first["loc"]) == 1:
        return RequestError(f"{name}: required", 400, name)
    place = ".".join(str(each) for each in first["loc"] if isinstance(each, int) or each.isidentifier())
    return RequestError(f"{place}: {first['msg']}", 400, name)
