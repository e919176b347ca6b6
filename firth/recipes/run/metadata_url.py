"""The URL of a database that keeps the metadata of local runs."""

import urllib.parse
from typing import Annotated

import pydantic


def _checked(url: str) -> str:
    if "://" not in url:
        raise ValueError(
            "is not a URL; write it as postgresql://user@host:port/database, or the same of mysql://, and a "
            "file of SQLite as --metadata FILE"
        )
    try:
        has_password = bool(urllib.parse.urlsplit(url).password)
    except ValueError:
        # Python's own words may quote a part of a password.
        raise ValueError("cannot be read as a URL") from None
    if has_password:
        raise ValueError(
            "has a password, which would stand in the run's folder and in each bundle; leave it out and set "
            "FIRTH_METADATA_PASSWORD"
        )
    return url


MetadataUrl = Annotated[str, pydantic.AfterValidator(_checked)]
