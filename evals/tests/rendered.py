"""Reads a page as a browser would: the fields of its form, and its text."""

import re
from html.parser import HTMLParser

from django.http import HttpResponse


def fields_of_form(response: HttpResponse, form_id: str) -> dict[str, str]:
    """What a browser would post if nobody touched the form: name to value, line breaks as browsers send them."""
    reader = _FormReader(form_id)
    reader.feed(response.content.decode())
    return {name: re.sub(r"\r\n|\r|\n", "\r\n", value) for name, value in reader.fields.items()}


def text_of(response: HttpResponse) -> str:
    """The visible text of a page, blanks folded."""
    reader = _TextReader()
    reader.feed(response.content.decode())
    return " ".join(" ".join(reader.parts).split())


class _TextReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


class _FormReader(HTMLParser):
    def __init__(self, form_id: str) -> None:
        super().__init__()
        self.form_id, self.inside = form_id, False
        self.fields: dict[str, str] = {}
        self.select = self.textarea = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.inside = given.get("id") == self.form_id
        elif self.inside and tag == "input" and "name" in given:
            self._read_input(given, checked="checked" in dict(attrs))
        elif self.inside and tag == "select":
            self.select = given["name"]
        elif self.select and tag == "option" and ("selected" in dict(attrs) or self.select not in self.fields):
            self.fields[self.select] = given.get("value", "")
        elif self.inside and tag == "textarea":
            self.textarea = given["name"]
            self.fields[self.textarea] = ""

    def _read_input(self, given: dict[str, str], *, checked: bool) -> None:
        is_box = given.get("type") == "checkbox"
        if given.get("type") not in {"submit", "button"} and (checked or not is_box):
            self.fields[given["name"]] = given.get("value", "on" if is_box else "")

    def handle_data(self, data: str) -> None:
        if self.textarea:
            self.fields[self.textarea] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self.textarea:
            self.fields[self.textarea] = self.fields[self.textarea].removeprefix("\n")
            self.textarea = ""
        elif tag == "select":
            self.select = ""
        elif tag == "form":
            self.inside = False
