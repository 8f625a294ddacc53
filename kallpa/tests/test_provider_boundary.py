"""Which files know anything of a model's provider: its paths, its headers, its names, the shape of its answers.

The day the provider changes, one file changes. Whoever adds a file that knows more writes it here, with the reason.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from kallpa.tests.test_boundaries import imported

ROOT = Path(settings.BASE_DIR)
FOLDERS = ("kallpa", "bookings", "assistant", "evals", "bench")

USERS_OF_THE_CLIENT = {
    "assistant/llm/provider.py": "the model",
    "assistant/mcp_host.py": "tool servers that a person has reviewed",
    "assistant/mcp_outbound.py": "how those are spoken to",
    "kallpa/alerts.py": "the webhook of an incident",
}
KNOWS = {
    "assistant/llm/provider.py": {"path", "header", "name", "shape"},
    "assistant/llm/catalog.py": {"name"},  # model names alone
    "assistant/mcp_host.py": {"header"},  # to a tool server
    "kallpa/tokens.py": {"header"},  # from who calls us
    "assistant/mcp_server.py": {"header"},  # what a caller without a token is told
    "assistant/watching.py": {"header"},  # the same
    "bench/metrics.py": {"name"},  # invented rows
    "evals/datasets/spreadsheet/promptfoo.py": {"header", "name"},  # two names of that tool's assertions
}
SIGNS = {
    "path": re.compile(r"/(?:chat/completions|completions|embeddings|responses|messages|models)\b"),
    "header": re.compile(r"\bauthorization\b|\bbearer\b|\bx-?api-?key\b|\banthropic-|\bopenai-", re.IGNORECASE),
    "name": re.compile(
        r"openai|anthropic|claude|\bgpt-|gemini|mistral|cohere|command-r|\bgroq|openrouter|deepseek|\bgrok|ollama|llama[.-](?:cpp|server|\d)|"
        r"lm ?studio|vllm|azure|bedrock|vertex|huggingface|qwen|smollm",
        re.IGNORECASE,
    ),
    "shape": re.compile(r"\b(?:prompt_tokens|completion_tokens)\b"),
}
SDKS = ("openai", "anthropic", "cohere", "mistralai", "google.genai", "google.generativeai", "groq", "ollama", "litellm", "langchain")


def written_strings(source: str) -> Iterator[str]:
    """Every text in the code but docstrings, which may explain."""
    tree = ast.parse(source)
    explained = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in explained:
            yield node.value


def what_it_knows(source: str) -> set[str]:
    texts = list(written_strings(source))
    found = {kind for kind, sign in SIGNS.items() if any(sign.search(text) for text in texts)}
    sdk = any(name == one or name.startswith(f"{one}.") for name in imported(source) for one in SDKS)
    return found | ({"name"} if sdk else set())


def sources() -> Iterator[tuple[str, str]]:
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            if not {"tests", "migrations"} & set(path.parts):
                yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")


def test_only_the_listed_files_know_anything_of_a_provider() -> None:
    found = {name: known for name, source in sources() if (known := what_it_knows(source))}
    assert found == KNOWS


def test_only_the_listed_files_use_the_client() -> None:
    users = {name for name, source in sources() if any(one.startswith("kallpa.outbound") for one in imported(source))}
    assert users == set(USERS_OF_THE_CLIENT)


def test_no_page_names_a_provider() -> None:
    pages = list((ROOT / "templates").rglob("*.html"))
    assert len(pages) > 10
    assert [page.name for page in pages if any(SIGNS[kind].search(page.read_text("utf-8")) for kind in ("path", "name"))] == []


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ('url = base + "/v1/chat/completions"', "path"),
        ('url = f"{base}/models"', "path"),
        ('headers = {"Authorization": key}', "header"),
        ('headers["x-api-key"] = key', "header"),
        ('if "gpt-4o" in name: ...', "name"),
        ('print("Usamos Mistral")', "name"),
        ("from openai import OpenAI", "name"),
        ("def later():\n    import anthropic", "name"),
        ('tokens = usage["prompt_tokens"]', "shape"),
    ],
)
def test_control_a_new_file_that_knows_more_is_found(source: str, kind: str) -> None:
    assert what_it_knows(source) == {kind}


def test_control_words_that_only_look_alike_are_not() -> None:
    assert what_it_knows('"""As OpenAI spells it, at /chat/completions."""\nnote = "el vecino llama al modelo y autoriza"') == set()
