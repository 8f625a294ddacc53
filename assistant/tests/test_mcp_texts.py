"""What a host puts into its prompt when it connects to us: short, plain, and changed only in sight of a reviewer."""

import hashlib
import json
import re
from typing import Any

import pytest

from assistant import mcp_texts
from assistant.mcp_server import RESOURCES, TOOLS

# Somebody read these words as what they are, text that reaches a model. Whoever changes one reads them all again, raises
# SERVER_VERSION, and writes the new hash here.
REVIEWED = ("1.0.0", "8b2cee0742fd842cfca492b371b952e016e19fdbd2614f74679e2ecec98e8995")


def all_texts() -> dict[str, Any]:
    """Every constant of the module."""
    return {name: value for name, value in sorted(vars(mcp_texts).items()) if name.isupper() and name != "SERVER_VERSION" and len(name) > 3}


def words(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case dict():
            return [word for part in value.values() for word in words(part)]
        case list() | tuple():
            return [word for part in value for word in words(part)]
    return []


def test_no_word_changed_since_it_was_reviewed() -> None:
    digest = hashlib.sha256(json.dumps(all_texts(), ensure_ascii=False, sort_keys=True, default=list).encode()).hexdigest()
    assert (mcp_texts.SERVER_VERSION, digest) == REVIEWED


def test_the_review_covers_all_that_is_listed() -> None:
    assert {"INSTRUCTIONS", "TOOLS", "RESOURCES", "PROMPTS", "SUMMARIZE_DAY", "ASK_FOR_DATE", "DATE_FORM"} <= set(all_texts())


def test_what_is_described_is_what_exists() -> None:
    assert [tool["name"] for tool in mcp_texts.TOOLS] == list(TOOLS)
    assert [resource["uri"] for resource in mcp_texts.RESOURCES] == list(RESOURCES)


@pytest.mark.parametrize("text", words(all_texts()))
def test_each_text_is_short_and_gives_no_model_orders_to_act(text: str) -> None:
    assert len(text) <= 320
    assert text.replace("\n", "").isprintable()
    assert not re.search(r"https?://|<|ignora|antes de usar|siempre debes|sistema|secret|contraseña|otra herramienta", text, re.IGNORECASE)


def test_every_tool_says_that_it_only_reads() -> None:
    assert {tool["annotations"]["readOnlyHint"] for tool in mcp_texts.TOOLS} == {True}
