"""Stores of ML Metadata: a file of SQLite, or a database of PostgreSQL or MariaDB."""

import os
import urllib.parse
from collections.abc import Callable

from ml_metadata.proto import metadata_store_pb2
from tfx.orchestration import metadata

from firth.recipes.base.errors import suggest

PASSWORD_VARIABLE = "FIRTH_METADATA_PASSWORD"
_FORM = "{}://user@host:port/database"
# A URL, and its password.
Connect = Callable[[urllib.parse.SplitResult, str], metadata_store_pb2.ConnectionConfig]


def connection_config(place: str) -> metadata_store_pb2.ConnectionConfig:
    """Returns the configuration with which TFX's local runner connects to ML Metadata.

    Args:
        place: Path of a file of SQLite, or `postgresql://user:password@host:port/database`, or the same of
            `mysql://`, as which MariaDB is spoken to. A password that is not in it is that of the variable
            `FIRTH_METADATA_PASSWORD`.

    Example:

    >>> connection_config("postgresql://me:secret@localhost/runs").postgresql.port
    '5432'
    """
    if "://" not in place:
        return metadata.sqlite_metadata_connection_config(place)
    url = _split(place)
    if url.scheme not in _DATABASES:
        raise ValueError(
            f"metadata: {url.scheme} is not a database of ML Metadata; {suggest(url.scheme, _DATABASES)}"
        )
    parts = {"host": url.hostname, "user": url.username, "database": _database(url)}
    if lacking := [name for name, part in parts.items() if not part]:
        raise ValueError(
            f"metadata: there is no {lacking[0]} in the URL; write it as {_FORM.format(url.scheme)}"
        )
    password = urllib.parse.unquote(url.password or "") or os.environ.get(PASSWORD_VARIABLE, "")
    return _DATABASES[url.scheme](url, password)


def address_of(config: metadata_store_pb2.ConnectionConfig) -> tuple[str, int] | None:
    """Returns host and port of a database; None for a file."""
    database = getattr(config, config.WhichOneof("config"))
    return (database.host, int(database.port)) if hasattr(database, "host") else None


def has_password(place: str) -> bool:
    """Returns whether a place is a URL with a password.

    Raises:
        ValueError: for a URL that cannot be read.

    Example:

    >>> has_password("mysql://me:secret@localhost/runs"), has_password("mysql://me@localhost/runs")
    (True, False)
    """
    return "://" in place and bool(_split(place).password)


def _split(place: str) -> urllib.parse.SplitResult:
    try:
        url = urllib.parse.urlsplit(place)
        _ = url.port
    except ValueError:
        # Python's own words may quote a part of a password, which it takes for the port.
        scheme = place.partition("://")[0]
        raise ValueError(
            f"metadata: host or port of the URL cannot be read; write it as {_FORM.format(scheme)}, and what "
            "has other characters with percent signs"
        ) from None
    return url


def _postgresql(url: urllib.parse.SplitResult, password: str) -> metadata_store_pb2.ConnectionConfig:
    config = metadata_store_pb2.ConnectionConfig()
    config.postgresql.host = url.hostname or ""
    config.postgresql.port = str(url.port or 5432)
    config.postgresql.user = urllib.parse.unquote(url.username or "")
    config.postgresql.password = _quoted(password)
    config.postgresql.dbname = _database(url)
    return config


def _database(url: urllib.parse.SplitResult) -> str:
    return urllib.parse.unquote(url.path.strip("/"))


def _quoted(text: str) -> str:
    """Returns a value as libpq reads it: ML Metadata writes `password=` and the value next to each other."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _mysql(url: urllib.parse.SplitResult, password: str) -> metadata_store_pb2.ConnectionConfig:
    return metadata.mysql_metadata_connection_config(
        host=url.hostname or "",
        port=url.port or 3306,
        database=_database(url),
        username=urllib.parse.unquote(url.username or ""),
        password=password,
    )


# By the scheme of the URL.
_DATABASES: dict[str, Connect] = {"postgresql": _postgresql, "mysql": _mysql}
