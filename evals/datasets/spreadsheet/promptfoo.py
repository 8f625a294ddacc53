"""Tests of promptfoo, in YAML or CSV, as rows of the dataset file.

What a test asks and what we can check goes over exactly; anything else is refused by name, with its test. The format is described at
https://www.promptfoo.dev/docs/configuration/test-cases and …/configuration/expected-outputs.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import yaml

from evals.datasets.checks import shown
from evals.datasets.row_format import check_row
from evals.datasets.rows import ParsedRow, Problem, spec_from
from evals.datasets.spreadsheet.file import Existing, FileRead, refuse_closed, refuse_kind
from evals.datasets.spreadsheet.reading import key_from
from evals.datasets.spreadsheet.table import Table, Unreadable, Value
from evals.datasets.spreadsheet.values import fold

MAX_YAML = 1_000_000
MAX_DEPTH = 20
CATEGORY = "promptfoo"
TEXT_VARS = ("text", "input", "question", "message", "query", "prompt", "user_input", "texto", "mensaje", "pregunta", "consulta")
DOCUMENT_VARS = ("context", "document", "documents", "contexto", "documento", "documentos")
HOW_TO_RUN = {"description", "prompts", "providers", "env", "outputPath", "sharing", "evaluateOptions", "commandLineOptions", "tags"}
TEST_PARTS = {"description", "vars", "assert", "metadata"}
# Kinds of assert that are not one of ours: a prefix of a CSV cell is only one of promptfoo's kinds if it is here or below.
FOREIGN = {
    *("llm-rubric", "javascript", "python", "similar", "is-json", "contains-json", "is-xml", "contains-xml", "is-sql", "contains-sql"),
    *(
        "levenshtein",
        "rouge-n",
        "bleu",
        "meteor",
        "perplexity",
        "perplexity-score",
        "latency",
        "cost",
        "classifier",
        "moderation",
        "guardrails",
    ),
    *(
        "factuality",
        "model-graded-factuality",
        "model-graded-closedqa",
        "g-eval",
        "answer-relevance",
        "context-recall",
        "context-relevance",
    ),
    *("context-faithfulness", "select-best", "webhook", "is-refusal", "is-valid-openai-tools-call", "is-valid-openai-function-call"),
    *("grade", "fn", "eval", "file"),
}
PREFIXED = re.compile(r"(?P<kind>[a-z][a-z-]*)(?:\([0-9.]+\))?:(?P<value>.*)", re.DOTALL)
_OURS = ("equals", "contains", "regex", "starts-with")
LISTS = ("contains-any", "contains-all")

Fault = tuple[str, str]


class Test(NamedTuple):
    """One test: its number from 1, and its parts as texts, lists and objects."""

    number: int
    parts: Mapping[str, Any]


# --- Reading ----------------------------------------------------------------------------------------------------------------


def is_yaml(text: str) -> bool:
    """Whether this looks like a file of promptfoo's tests rather than a sheet."""
    first = next((line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")), "")
    begins = re.match(r"(---|\[|-\s|[A-Za-z]+:(\s|$))", first.strip())
    return bool(begins and re.search(r"^[\s\[{,-]*\"?(vars|tests|assert)\"?\s*:", text, re.MULTILINE))


def is_csv(header: list[Value]) -> bool:
    return any(str(cell).startswith("__expected") for cell in header)


def read_yaml(text: str, existing: Existing) -> FileRead:
    """Raises Unreadable for what is no YAML, or could grow."""
    if len(text) > MAX_YAML:
        raise Unreadable(f"El YAML pasa de {MAX_YAML // 1_000_000} MB. Divídelo.")
    try:
        _refuse_growing(text)
        root = _plain(yaml.compose(text, Loader=yaml.CSafeLoader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise Unreadable(f"No es YAML{f' cerca de la línea {mark.line + 1}' if mark else ''}. Corrígelo y vuelve a subirlo.") from error
    found = _find_tests(root)
    return _read_tests([Test(number, parts) for number, parts in enumerate(found, 1)], existing, _say_ignored(root))


def read_csv_tests(table: Table, existing: Existing) -> FileRead:
    """Each row is a test; its numbers are those of the sheet."""
    header = [str(cell) for cell in table.rows[0][1]]
    tests = [Test(number, _parts_of(header, cells)) for number, cells in table.rows[1:]]
    read = _read_tests(tests, existing, table.notes)
    return read._replace(problems=[*table.problems, *read.problems], unit="fila")


def _refuse_growing(text: str) -> None:
    """An alias may stand for itself a thousand times over; depth is refused before anything recurses."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        line = event.start_mark.line + 1 if event.start_mark else 0
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent):
            raise Unreadable(f"Usa un alias de YAML (*{event.anchor}, línea {line}). Escribe cada prueba completa.")
        if depth > MAX_DEPTH:
            raise Unreadable(f"Tiene más de {MAX_DEPTH} niveles en la línea {line}. No parece un archivo de pruebas.")


def _plain(node: Any) -> Any:
    """Texts as they are written, lists and objects. Raises Unreadable for a name that stands twice in an object."""
    if node is None:
        return ""
    if isinstance(node, yaml.ScalarNode):
        return "" if node.tag.endswith(":null") else node.value
    if isinstance(node, yaml.SequenceNode):
        return [_plain(each) for each in node.value]
    pairs = [(str(_plain(key)), _plain(value)) for key, value in node.value]
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise Unreadable(f"El nombre {shown(twice)} está dos veces en el objeto de la línea {node.start_mark.line + 1}. Deja uno solo.")
    return found


def _find_tests(root: Any) -> list[Any]:
    tests = root.get("tests") if isinstance(root, dict) else root
    if isinstance(root, dict) and (other := next((name for name in root if name not in HOW_TO_RUN | {"tests"}), "")):
        raise Unreadable(f"Tiene {shown(other)}, que cambia todas las pruebas y aquí no se aplica. Escríbelo en cada prueba.")
    if not isinstance(tests, list) or not tests:
        raise Unreadable("No tiene ninguna prueba: escribe una lista, o «tests:» con una lista. Los archivos que nombra no se abren.")
    return tests


def _say_ignored(root: Any) -> list[str]:
    ignored = [name for name in root if name != "tests"] if isinstance(root, dict) else []
    return [f"No se leyó lo que dice cómo correr: {', '.join(ignored)}."] if ignored else []


def _parts_of(header: list[str], cells: list[Value]) -> dict[str, Any]:
    """A row of a CSV as the parts of a test; what has no part stays under the column's name."""
    parts: dict[str, Any] = {"vars": {}, "assert": [], "metadata": {}}
    for column, cell in zip(header, cells, strict=False):
        text = str(cell)
        if not text.strip() or not column.strip():
            continue
        if column.startswith("__expected"):
            parts["assert"].append(_assert_of(text))
        elif column.startswith("__metadata:"):
            name = column.removeprefix("__metadata:")
            words = [word.replace("\\,", ",").strip() for word in re.split(r"(?<!\\),", text)]
            parts["metadata"][name.removesuffix("[]")] = words if name.endswith("[]") else text
        elif column == "__description":
            parts["description"] = text
        elif column.startswith("__"):
            parts[column] = text
        else:
            parts["vars"][column] = text
    return parts


def _assert_of(text: str) -> dict[str, Any]:
    """`contains: Hola` names its kind; any other text must come out as it is."""
    found = PREFIXED.fullmatch(text.strip())
    kind = found["kind"] if found else ""
    if not found or not {kind.removeprefix("not-"), kind.removeprefix("not-").removeprefix("i")} & (FOREIGN | {*_OURS, *LISTS}):
        return {"type": "equals", "value": text}
    value = found["value"].strip()
    listed = kind.removeprefix("not-").removeprefix("i") in LISTS
    return {"type": kind, "value": [word.strip() for word in value.split(",")] if listed else value}


# --- Tests as rows ----------------------------------------------------------------------------------------------------------


def _read_tests(tests: list[Test], existing: Existing, notes: list[str]) -> FileRead:
    rows, problems, seen, turned = [], list[Problem](), dict[str, int](), Counter[str]()
    for test in tests:
        faults: list[Fault] = []
        row = _row_of(test, faults, turned)
        if row["key"] in existing.closed:
            problems.append(refuse_closed(test.number, row["key"], "prueba"))
            continue
        faults = faults or [(fault.where, fault.message) for fault in check_row(row)]
        if why := refuse_kind(row["key"], row["expected"]["kind"], existing):
            faults.append(("assert", why))
        if not faults and seen.setdefault(row["key"], test.number) != test.number:
            faults = [("vars", f"Dice lo mismo que la {seen[row['key']]}. Junta sus asserts en una sola o cambia sus vars.")]
        problems += [Problem(test.number, place, message) for place, message in faults]
        if not faults:
            rows.append(ParsedRow(test.number, spec_from(row, row), ()))
    told = [f"Asserts «{kind}»: {count}. Quedan como un patrón en «lo que nunca debe decir»." for kind, count in turned.items()]
    return FileRead(rows, problems, [*notes, *told, f"Categoría de todas: «{CATEGORY}»; estrato: normal."], "prueba")


def _row_of(test: Test, faults: list[Fault], turned: Counter[str]) -> dict[str, Any]:
    parts = test.parts if isinstance(test.parts, dict) else {}
    if not parts:
        faults.append(("", f"{shown(test.parts)} no es una prueba escrita aquí. Los archivos que nombra no se abren."))
    faults += [
        (name, "Esta parte no tiene equivalente aquí. Quítala o escribe el caso a mano.") for name in parts if name not in TEST_PARTS
    ]
    row: dict[str, Any] = {"category": CATEGORY, "stratum": "happy", **_situation(parts.get("vars") or {}, faults)}
    never_say: list[dict[str, str]] = []
    row["expected"] = _expected(parts.get("assert") or [], never_say, faults, turned)
    row |= {"never_say": never_say, "tags": _tags(parts.get("metadata") or {}, faults), "notes": str(parts.get("description", ""))}
    return {"key": key_from(row), **row}


def _situation(given: Any, faults: list[Fault]) -> dict[str, Any]:
    named = given if isinstance(given, dict) else {}
    text = next((name for name in TEXT_VARS if name in named), next(iter(named), "") if len(named) == 1 else "")
    context: dict[str, Any] = {}
    for name, value in named.items():
        if name == text:
            continue
        if name in DOCUMENT_VARS:
            context["documents"] = [*context.get("documents", ()), *(value if isinstance(value, list) else [value])]
        elif name in ("now", "member"):
            context[name] = value
        else:
            known = ", ".join((TEXT_VARS[0], *DOCUMENT_VARS[:2], "now", "member"))
            faults.append((f"vars.{name}", f"No se sabe qué es esta variable. Se entienden: {known}."))
    faults += [
        (f"vars.{name}", "Nombra un archivo, y no se abre. Escribe su texto.") for name, value in named.items() if _names_file(value)
    ]
    said = named.get(text, "")
    return {"input": {"text": said if isinstance(said, str) else json.dumps(said)}, **({"context": context} if context else {})}


def _names_file(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("file://")


def _tags(metadata: Any, faults: list[Fault]) -> list[str]:
    """`category: math` is the tag `category-math`; each element of a list is one."""
    if not isinstance(metadata, dict):
        faults.append(("metadata", "Debe ser un objeto con nombres y valores."))
        return []
    pairs = [(name, word) for name, value in metadata.items() for word in (value if isinstance(value, list) else [value])]
    slugs = [re.sub(r"[^a-z0-9]+", "-", fold(f"{name} {word}")).strip("-")[:40].strip("-") for name, word in pairs]
    return list(dict.fromkeys(slug for slug in slugs if slug))


def _expected(asserts: Any, never_say: list[dict[str, str]], faults: list[Fault], turned: Counter[str]) -> dict[str, Any]:
    """The right answer, if an assert says it whole; what the others say goes to `never_say`."""
    expected: dict[str, Any] = {"kind": "none"}
    for number, each in enumerate(asserts if isinstance(asserts, list) else [asserts], 1):
        place = f"assert#{number}"
        kind, value = (str(each.get("type", "")), each.get("value", "")) if isinstance(each, dict) else ("", "")
        extra = [name for name in each if name not in ("type", "value", "metric")] if isinstance(each, dict) else []
        if extra:
            faults.append((f"{place}.{extra[0]}", "Esta parte del assert no tiene equivalente aquí. Quítala."))
        elif kind == "equals" and isinstance(value, str) and expected["kind"] == "none":
            expected = {"kind": "text", "text": value}
        else:
            never_say += _forbidden(place, kind, value, faults, turned)
    if not asserts:
        faults.append(("assert", "No dice qué es lo correcto. Escribe al menos un assert."))
    return expected


def _forbidden(place: str, kind: str, value: Any, faults: list[Fault], turned: Counter[str]) -> list[dict[str, str]]:
    plain = kind.removeprefix("not-")
    words = value if isinstance(value, list) else [value]
    if kind == "not-llm-rubric" and isinstance(value, str):
        return [{"kind": "rule", "text": value}]
    if plain.removeprefix("i") not in {*_OURS, *LISTS} or not all(isinstance(word, str) and word for word in words):
        able = ", ".join(("equals", *_OURS, *LISTS))
        faults.append((place, f"El assert {shown(kind)} con este valor no tiene equivalente aquí. Se entienden: {able}, y con «not-»."))
        return []
    if kind == "not-regex":
        return [{"kind": "pattern", "text": words[0]}]
    if kind.startswith("not-") and plain in ("contains", "icontains", "contains-any", "icontains-any"):
        return [{"kind": "phrase", "text": word} for word in words]
    turned[kind] += 1
    return [{"kind": "pattern", "text": pattern} for pattern in _patterns(kind, words)]


def _patterns(kind: str, words: list[str]) -> Iterator[str]:
    """Regular expressions that find something exactly in the answers that break the assert."""
    broken, plain = kind.startswith("not-"), kind.removeprefix("not-")
    flag = "(?i)" if plain.startswith("icontains") else ""
    if plain.endswith("contains-all") and not broken:
        yield from (rf"{flag}\A(?![\s\S]*{_escape(word)})" for word in words)
        return
    if plain.endswith("contains-all"):
        yield flag + r"\A" + "".join(rf"(?=[\s\S]*{_escape(word)})" for word in words)
        return
    found = words[0] if plain == "regex" else "|".join(map(_escape, words))
    inside = {"starts-with": f"(?:{found})", "equals": rf"(?:{found})\Z"}.get(plain, rf"[\s\S]*?(?:{found})")
    yield flag + (rf"\A{inside}" if broken else rf"\A(?!{inside})")


def _escape(text: str) -> str:
    return re.escape(text).replace("\\\n", r"\n").replace("\\\r", r"\r").replace("\\ ", " ")
