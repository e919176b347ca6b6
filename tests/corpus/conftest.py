import random

import pytest

from firth.corpus import Document
from tests.corpus.helpers import document, random_text


@pytest.fixture(scope="session")
def documents() -> list[Document]:
    generator = random.Random(3)
    documents = []
    for i in range(120):
        source = "books" if i % 3 else "web"
        text = random_text(generator, generator.randint(1, 5) if i % 5 == 0 else generator.randint(5, 80))
        documents.append(document(text, f"{i}", source, licence=f"{source} licence"))
    copies = [document(each.text + " \r\n", f"copy{i}", "web") for i, each in enumerate(documents[:20])]
    return documents + copies
