"""The settings of a server."""

import pydantic


class ServerSettings(pydantic.BaseModel):
    """Settings of a server, one for all of its models."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    host: str = "127.0.0.1"
    """Address on which the server listens; other machines reach it at 0.0.0.0."""
    port: int = pydantic.Field(8501, ge=0, lt=2**16)
    """Port of HTTP; 0 takes a free one."""
    grpc_port: int | None = pydantic.Field(None, ge=0, lt=2**16)
    """Port of gRPC; 0 takes a free one, and null serves no gRPC."""
    token: str | None = pydantic.Field(None, min_length=1)
    """Token that each request must bear; null asks for none."""
    tls_certificate: str | None = None
    """Path of the certificate chain in PEM; null serves without TLS."""
    tls_key: str | None = None
    """Path of the certificate's private key in PEM."""
    max_batch_rows: int = pydantic.Field(32, ge=1)
    """Most rows that are computed together."""
    max_queued_rows: int = pydantic.Field(1024, ge=1)
    """Most rows of a model that wait; a request that finds no room is answered with 429."""
    max_queued_texts: int = pydantic.Field(256, ge=1)
    """Most texts that wait for a slot; a request that finds no room is answered with 429."""
    batch_threads: int = pydantic.Field(2, ge=1)
    """Batches of a model that are computed at the same time."""
    max_request_bytes: int = pydantic.Field(4 * 2**20, ge=1)
    """Most bytes of a request's body."""
    request_seconds: float = pydantic.Field(300.0, gt=0)
    """Seconds after which a request that is not answered ends with 504."""
    reload_seconds: float = pydantic.Field(5.0, ge=0)
    """Seconds between two looks for newer versions; 0 looks for none."""
    drain_seconds: float = pydantic.Field(30.0, ge=0)
    """Seconds in which taken requests are finished after SIGTERM."""
