"""The error for requests that are refused, with its status in HTTP and in gRPC."""

import grpc

_GRPC_CODES = {
    400: grpc.StatusCode.INVALID_ARGUMENT,
    401: grpc.StatusCode.UNAUTHENTICATED,
    404: grpc.StatusCode.NOT_FOUND,
    412: grpc.StatusCode.FAILED_PRECONDITION,
    413: grpc.StatusCode.RESOURCE_EXHAUSTED,
    429: grpc.StatusCode.RESOURCE_EXHAUSTED,
    500: grpc.StatusCode.INTERNAL,
    501: grpc.StatusCode.UNIMPLEMENTED,
    503: grpc.StatusCode.UNAVAILABLE,
    504: grpc.StatusCode.DEADLINE_EXCEEDED,
}


class RequestError(Exception):
    """A request that is refused, or that the server cannot answer.

    Args:
        message: A sentence for the client, which names the place of the fault and the nearest valid choice.
        status: Status of HTTP.
        parameter: Name of the parameter that the error is about; None if it is about none.

    Attributes:
        message: As given.
        status: As given.
        parameter: As given.

    Example:

    >>> RequestError("there is no model demoo; did you mean demo?", 404, "model").grpc_code.name
    'NOT_FOUND'
    """

    def __init__(self, message: str, status: int = 400, parameter: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.parameter = parameter

    @property
    def grpc_code(self) -> grpc.StatusCode:
        """Status of gRPC."""
        return _GRPC_CODES.get(self.status, grpc.StatusCode.UNKNOWN)
