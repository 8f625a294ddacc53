"""Lists as experts write them: one thing a line. Each pair writes rows as text and reads them back. No Django here.

Readers return (row, line number) pairs and raise `LineError` for what they cannot read; what a row may say is checked elsewhere.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

SIGN_FIELDS = {"deporte": "sport", "fecha": "date", "hora": "startHour", "horas": "hours"}
DOCUMENT_BREAK = "====="
ANY_DRAFT = "cualquiera"
Numbered = list[tuple[Any, int]]

_NEVER_SAY = {"frase": "phrase", "patrón": "pattern", "regla": "rule"}
_SIGNS = {"borrador": "draft", "frase": "phrase", "herramienta": "tool"}
_ROLES = {"persona": "user", "asistente": "assistant", "sistema": "system"}
_PLAIN = str.maketrans("áéíóú", "aeiou")


class LineError(ValueError):
    """A line that cannot be read: its number, from 1, and what to write instead, in Spanish."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line, self.message = line, message


def one_break(text: str) -> str:
    """Every kind of line break as a line feed, which is what a browser makes of them anyway."""
    return re.sub(r"\r\n?", "\n", text)


def _lines(text: str) -> Iterator[tuple[str, int]]:
    for number, line in enumerate(one_break(text).split("\n"), 1):
        if line.strip():
            yield line.strip(), number


def _prefixed(line: str, kinds: Mapping[str, str]) -> tuple[str, str] | None:
    """(kind, rest) of `prefijo: resto`, with or without accents and capitals; None without a known prefix."""
    prefix, colon, rest = line.partition(":")
    plain = {word.translate(_PLAIN): kind for word, kind in kinds.items()}
    kind = plain.get(prefix.strip().lower().translate(_PLAIN)) if colon else None
    return (kind, rest.strip()) if kind else None


def _word_for(kind: str, kinds: Mapping[str, str]) -> str:
    return next(word for word, known in kinds.items() if known == kind)


# --- Never-say: `gratis`, `patrón: \\d{9}`, `regla: no regaña` -------------------------------------------------------------


def write_never_say(rows: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(_never_say_line(row["kind"], row["text"]) for row in rows)


def _never_say_line(kind: str, text: str) -> str:
    return text if kind == "phrase" and not _prefixed(text, _NEVER_SAY) else f"{_word_for(kind, _NEVER_SAY)}: {text}"


def read_never_say(text: str) -> Numbered:
    found = [(_prefixed(line, _NEVER_SAY) or ("phrase", line), number) for line, number in _lines(text)]
    return [({"kind": kind, "text": rest}, number) for (kind, rest), number in found]


# --- Obeying: `borrador: horas=6, deporte=voley`, `frase: soy libre`, `herramienta: cancelar` ------------------------------


def write_obeying(rows: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(f"{_word_for(row['kind'], _SIGNS)}: {_sign_words(row)}" for row in rows)


def _sign_words(row: Mapping[str, Any]) -> str:
    if row["kind"] != "draft":
        return str(row.get("text", row.get("name")))
    return ", ".join(f"{word}={row['fields'][name]}" for word, name in SIGN_FIELDS.items() if name in row["fields"]) or ANY_DRAFT


def read_obeying(text: str) -> Numbered:
    return [(_read_sign(line, number), number) for line, number in _lines(text)]


def _read_sign(line: str, number: int) -> dict[str, Any]:
    kind, rest = _prefixed(line, _SIGNS) or ("", "")
    if kind == "draft":
        return {"kind": kind, "fields": _read_sign_fields(rest, number)}
    if not kind:
        raise LineError(number, "Empieza con «borrador:», «frase:» o «herramienta:».")
    return {"kind": kind, "name" if kind == "tool" else "text": rest}


def _read_sign_fields(words: str, number: int) -> dict[str, Any]:
    if words.lower() == ANY_DRAFT:
        return {}
    pairs = [pair.partition("=") for pair in words.split(",")]
    names = [name.strip().lower() for name, _, _ in pairs]
    if not all(name in SIGN_FIELDS for name in names) or len(set(names)) < len(names):
        known = ", ".join(f"{name}=…" for name in SIGN_FIELDS)
        raise LineError(number, f"Escribe {known} (los que hagan falta, cada uno una vez) o «borrador: {ANY_DRAFT}».")
    return {SIGN_FIELDS[name]: _number_if_whole(value.strip()) for name, (_, _, value) in zip(names, pairs, strict=True)}


def _number_if_whole(value: str) -> int | str:
    return int(value) if re.fullmatch(r"[0-9]{1,4}", value) else value


# --- Occupied hours: `2026-03-10 fulbito 18 Los Halcones` ------------------------------------------------------------------


def write_occupied(rows: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(f"{row['date']} {row['sport']} {row['hour']} {row.get('team', '')}".rstrip() for row in rows)


def read_occupied(text: str) -> Numbered:
    return [(_read_hour(line, number), number) for line, number in _lines(text)]


def _read_hour(line: str, number: int) -> dict[str, Any]:
    parts = line.split(None, 3)
    if len(parts) < 3 or not re.fullmatch(r"[0-9]{1,2}", parts[2]):
        raise LineError(number, "Escribe fecha, deporte, hora y, si quieres, el equipo: «2026-03-10 fulbito 18 Los Halcones».")
    row = {"date": parts[0], "sport": parts[1], "hour": int(parts[2])}
    return {**row, "team": parts[3]} if len(parts) == 4 else row


# --- Words, documents, conversations ---------------------------------------------------------------------------------------


def write_words(words: Iterable[str]) -> str:
    """Commas between them, or one a line when some word has a comma of its own."""
    found = list(words)
    return "".join(f"{word}\n" for word in found) if any("," in word for word in found) else ", ".join(found)


def read_words(text: str) -> Numbered:
    """One a line where there is a line break, else between commas."""
    if "\n" in one_break(text):
        return list(_lines(text))
    return [(word.strip(), 1) for word in text.split(",") if word.strip()]


def write_documents(documents: Iterable[str]) -> str:
    return f"\n{DOCUMENT_BREAK}\n".join(documents)


def read_documents(text: str) -> Numbered:
    """Documents between lines that say only DOCUMENT_BREAK."""
    found: Numbered = []
    start, lines = 1, one_break(text).split("\n")
    for number, line in enumerate([*lines, DOCUMENT_BREAK], 1):
        if line.strip() == DOCUMENT_BREAK:
            document = "\n".join(lines[start - 1 : number - 1])
            found += [(document, start)] if document.strip() else []
            start = number + 1
    return found


def write_messages(messages: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(f"{_word_for(message['role'], _ROLES)}: {message['content']}" for message in messages)


def read_messages(text: str) -> Numbered:
    """Each message begins with who says it; lines without a name go on with the message."""
    found: Numbered = []
    for number, line in enumerate(one_break(text).split("\n"), 1):
        if begun := _prefixed(line, _ROLES):
            found.append(({"role": begun[0], "content": begun[1]}, number))
        elif found:
            found[-1][0]["content"] += f"\n{line}"
        elif line.strip():
            raise LineError(number, "Empieza con quién habla: «persona:», «asistente:» o «sistema:».")
    return found
