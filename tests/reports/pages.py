"""Pages as tests read them."""

import re
from html.parser import HTMLParser


class Page(HTMLParser):
    """Tags with their attributes, ids, text, and the classes around each table."""

    VOID = ("meta", "br", "wbr")

    def __init__(self, page):
        super().__init__()
        self.tags, self.ids, self.text, self.open, self.tables = [], [], [], [], []
        self.classes = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.ids += [value for name, value in attributes if name == "id"]
        if tag == "table":
            self.tables.append(" ".join(self.classes).split())
        if tag not in self.VOID:
            self.open.append(tag)
            self.classes.append(dict(attributes).get("class") or "")

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag
            self.classes.pop()

    def handle_data(self, data):
        self.text.append(data)


def words_of(page):
    """The text of a page with one space between words, and between cells."""
    return " ".join("".join(Page(re.sub("(</(td|th|dd|dt)>)", r"\1 ", page)).text).split())
