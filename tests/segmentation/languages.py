"""Articles of the Universal Declaration of Human Rights in 24 languages, from the archive of Eric Muller."""

import json
import pathlib

_FILE = pathlib.Path(__file__).with_name("languages.json")
# By ISO 639-1 code, an article a line.
LANGUAGES: dict[str, str] = {
    language: "\n".join(lines) for language, lines in json.loads(_FILE.read_text(encoding="utf-8")).items()
}
