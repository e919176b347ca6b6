"""Small files of labelled data."""


def write(folder, name, *rows) -> str:
    """Writes the rows of a file, and returns its path."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{row}\n" for row in rows))
    return str(path)
