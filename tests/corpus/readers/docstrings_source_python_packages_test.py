from firth.corpus.documents.document import Document
from firth.corpus.readers.docstrings_source import standard_library_files
from firth.corpus.readers.sources import SOURCES
from firth.recipes.corpus.sources import DocstringsSource


def test_standard_library():
    files = {file.name: file for file in standard_library_files()}
    assert {"python/json", "python/json.decoder", "python/argparse"} <= set(files)
    assert not [name for name in files if ".tests." in name]
    records = SOURCES["docstrings"].read(DocstringsSource(kind="docstrings"), files["python/textwrap"])
    uris = {each.uri for each in records if isinstance(each, Document)}
    assert "docstring:python/textwrap.dedent" in uris
