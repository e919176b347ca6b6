"""Lists of domains, hosts and addresses of web pages, by which documents are dropped or kept."""

from typing import Annotated, Literal

import pydantic

from firth.recipes.base.file_names import NamesFiles
from firth.recipes.base.recipe_type import Config
from firth.recipes.corpus.sources import SourceName
from firth.recipes.corpus.step import CleaningStep


class UrlList(Config):
    """Domains, hosts and beginnings of URLs in a file, one a line."""

    path: Annotated[str, NamesFiles()]
    """Path of the file, compressed or not, on any of Beam's file systems."""
    name: SourceName = "url"
    """Name of the list in the report, such as `adult`, where the reason is `blocked_adult`."""


class UrlListsStep(CleaningStep):
    """Drops documents by the addresses of their pages.

    A domain or host on a list stands for its subdomains too, and `example.com/forum/` for all addresses that
    begin so, on the host or a subdomain. Scheme, user, port and letter case of the host do not count.
    International names may be written in letters or in the form `xn--`, and paths in letters or with percent
    signs. What follows a `#`, at the beginning
    of a line or after a space, is a comment.
    """

    kind: Literal["url_lists"]
    block: tuple[UrlList, ...] = ()
    """Lists of what is dropped."""
    allow: Annotated[tuple[str, ...], NamesFiles()] = ()
    """Paths of lists of what is not dropped although a list of `block` has it."""
    only_allowed: bool = False
    """True to drop everything that no list of `allow` has."""
    without_url: Literal["keep", "drop"] = "keep"
    """What to do with documents whose address is not a URL of `http` or `https`."""

    @pydantic.model_validator(mode="after")
    def _does_something(self) -> "UrlListsStep":
        if not self.block and not self.only_allowed:
            raise ValueError("drops nothing: name lists under block, or set only_allowed: true")
        if self.only_allowed and not self.allow:
            raise ValueError("only_allowed: drops everything without a list under allow")
        return self
