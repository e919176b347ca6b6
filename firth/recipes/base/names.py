"""Names of recipes and runs, which become names of folders."""

from typing import Annotated

import pydantic

# Letters and digits of ASCII, so that a name is one folder on every file system and one word in a shell.
FolderName = Annotated[str, pydantic.Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_-]*$", max_length=100)]

_FOLDER_NAME: pydantic.TypeAdapter[str] = pydantic.TypeAdapter(FolderName)


def check_folder_name(name: str) -> None:
    """Checks that a run may have this name, by the rule of a recipe's `name`.

    Example:

    >>> check_folder_name("second_try")
    >>> check_folder_name("../../evil")
    Traceback (most recent call last):
        ...
    ValueError: '../../evil' is not a run's name: at most 100 letters, digits, _ and -, no - in front
    """
    try:
        _FOLDER_NAME.validate_python(name)
    except pydantic.ValidationError:
        raise ValueError(
            f"{name!r} is not a run's name: at most 100 letters, digits, _ and -, no - in front"
        ) from None
