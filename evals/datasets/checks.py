"""Checks for values that came out of JSON. A check takes (value, where) and yields (where, what is wrong and what to do, in Spanish)."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from reprlib import Repr
from typing import Any, NamedTuple

import regex

YEARS = range(2000, 2100)
SLUG = re.compile(r"[a-z0-9][a-z0-9-]*")
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}")

_SHORT = Repr()
_SHORT.maxlevel, _SHORT.maxdict, _SHORT.maxlist, _SHORT.maxstring = 2, 3, 3, 60


class Fault(NamedTuple):
    """Where in the value, e.g. `context.occupied#2.hour` (the second hour), and what is wrong."""

    where: str
    message: str


Check = Callable[[Any, str], Iterator[Fault]]


def shown(value: Any) -> str:
    """The value for a message: short, and with everything unprintable escaped."""
    return _SHORT.repr(value)


def text(limit: int, *, one_line: bool = False, blank: bool = False) -> Check:
    """Text of up to `limit` characters that every database can hold; `one_line`: no line breaks and no spaces around."""

    def check(value: Any, where: str) -> Iterator[Fault]:
        if not isinstance(value, str):
            yield Fault(where, f"Debe ser un texto entre comillas y es {shown(value)}.")
        elif fault := unstorable(value):
            yield Fault(where, fault)
        elif not blank and not value.strip():
            yield Fault(where, "Está en blanco. Escribe el texto que falta.")
        elif len(value) > limit:
            yield Fault(where, f"Tiene {len(value):,} caracteres y el máximo es {limit:,}. Acórtalo.")
        elif one_line and ("\n" in value or "\r" in value):
            yield Fault(where, "Debe ir en una sola línea. Quita los saltos de línea.")
        elif one_line and value != value.strip():
            yield Fault(where, "Tiene espacios al inicio o al final. Quítalos.")

    return check


def unstorable(value: str) -> str:
    """Why no database should hold this text, or an empty string."""
    if "\0" in value:
        return "Tiene un carácter NUL (\\u0000), que no se puede guardar. Bórralo."
    if any("\ud800" <= char <= "\udfff" for char in value):
        return "Tiene medio carácter suelto (\\ud800 a \\udfff), que no se puede guardar. Bórralo o completa el par."
    return ""


def slug(limit: int) -> Check:
    def check(value: Any, where: str) -> Iterator[Fault]:
        if not isinstance(value, str) or not SLUG.fullmatch(value) or len(value) > limit:
            yield Fault(where, f"{shown(value)} no sirve de clave. Usa minúsculas sin tildes, números y guiones; hasta {limit} caracteres.")

    return check


def whole(low: int, high: int) -> Check:
    """An integer and nothing that looks like one: no boolean, no 19.0, no text."""

    def check(value: Any, where: str) -> Iterator[Fault]:
        if type(value) is not int or not low <= value <= high:
            yield Fault(where, f"Debe ser un número entero de {low} a {high}, sin comillas ni decimales, y es {shown(value)}.")

    return check


def flag(*, optional: bool = False) -> Check:
    def check(value: Any, where: str) -> Iterator[Fault]:
        if type(value) is not bool and not (optional and value is None):
            yield Fault(where, f"Debe ser true o false{' o null' if optional else ''}, sin comillas, y es {shown(value)}.")

    return check


def one_of(choices: Iterable[str]) -> Check:
    known = tuple(choices)

    def check(value: Any, where: str) -> Iterator[Fault]:
        if not isinstance(value, str) or value not in known:
            yield Fault(where, f"{shown(value)} no se conoce. Usa una de: {', '.join(known)}.")

    return check


def day(value: Any, where: str) -> Iterator[Fault]:
    """A real date written YYYY-MM-DD."""
    if not _is_moment(value, DAY, "%Y-%m-%d"):
        yield Fault(where, f"{shown(value)} no es una fecha. Escríbela como 2026-03-10, con un día que exista.")


def moment(value: Any, where: str) -> Iterator[Fault]:
    """A real date and time written YYYY-MM-DDTHH:MM."""
    if not _is_moment(value, MOMENT, "%Y-%m-%dT%H:%M"):
        yield Fault(where, f"{shown(value)} no es fecha y hora. Escríbela como 2026-03-09T10:00, hora de Lima.")


def _is_moment(value: Any, shape: re.Pattern[str], layout: str) -> bool:
    if not isinstance(value, str) or not shape.fullmatch(value):
        return False
    try:
        return datetime.strptime(value, layout).year in YEARS  # noqa: DTZ007
    except ValueError:
        return False


def pattern(limit: int) -> Check:
    """A regular expression that the `regex` package compiles."""
    is_text = text(limit, one_line=True)

    def check(value: Any, where: str) -> Iterator[Fault]:
        faults = list(is_text(value, where))
        yield from faults
        if not faults and (reason := _why_not_a_pattern(value)):
            yield Fault(where, f"El patrón {shown(value)} no es una expresión regular válida ({reason}). Corrígelo o usa una frase.")

    return check


def _why_not_a_pattern(value: str) -> str:
    try:
        regex.compile(value)
    except (regex.error, OverflowError, RecursionError, ValueError, IndexError, KeyError) as error:
        return str(error) or type(error).__name__
    return ""


def list_of(item: Check, *, limit: int = 200, at_least: int = 0, distinct: bool = False) -> Check:
    def check(value: Any, where: str) -> Iterator[Fault]:
        if not isinstance(value, list):
            yield Fault(where, f"Debe ser una lista entre corchetes y es {shown(value)}.")
            return
        if not at_least <= len(value) <= limit:
            yield Fault(where, f"Tiene {len(value)} y deben ser de {at_least} a {limit}. Agrega o quita.")
            return
        for number, element in enumerate(value, 1):
            yield from item(element, f"{where}#{number}")
            if distinct and element in value[: number - 1]:
                yield Fault(f"{where}#{number}", f"{shown(element)} está repetido. Déjalo una sola vez.")

    return check


def record(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """An object with these keys and no other."""
    known = {**required, **(optional or {})}

    def check(value: Any, where: str) -> Iterator[Fault]:
        if not isinstance(value, dict):
            yield Fault(where, f"Debe ser un objeto entre llaves y es {shown(value)}.")
            return
        for key in [key for key in value if key not in known]:
            yield Fault(_under(where, _printable(key)), f"Ese campo no existe aquí. Bórralo o corrígelo; hay: {', '.join(known)}.")
        for key, inner in known.items():
            if key in value:
                yield from inner(value[key], _under(where, key))
            elif key in required:
                yield Fault(_under(where, key), "Falta este campo. Agrégalo.")

    return check


def by_kind(kinds: Mapping[str, Check]) -> Check:
    """An object whose `kind` says which other keys it has; each check sees it without `kind`."""
    is_known = record({"kind": one_of(kinds)})

    def check(value: Any, where: str) -> Iterator[Fault]:
        kind = value.get("kind") if isinstance(value, dict) else None
        if isinstance(kind, str) and kind in kinds:
            yield from kinds[kind]({key: inner for key, inner in value.items() if key != "kind"}, where)
        else:
            yield from is_known({key: value[key] for key in value if key == "kind"} if isinstance(value, dict) else value, where)

    return check


def _under(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _printable(key: str) -> str:
    return key if key.isprintable() and len(key) <= 60 else shown(key)
