"""What the options of the commands may say. Each reads a text, or raises the sentence that argparse shows before leaving with 2."""

import re
from argparse import ArgumentTypeError
from decimal import Decimal, InvalidOperation

SHA = re.compile(r"[0-9a-fA-F]{7,40}")
MOST_USD = 10_000
MOST_DAYS = 3_650


def read_count(text: str) -> int:
    """A whole number from 1 to 1000."""
    return _read_whole(text, 1, 1_000)


def read_days(text: str) -> int:
    """A whole number of days, 0 or more."""
    return _read_whole(text, 0, MOST_DAYS)


def _read_whole(text: str, low: int, high: int) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text) or not low <= int(text) <= high:
        raise ArgumentTypeError(f"{text!r} no es un número entero de {low} a {high}")
    return int(text)


def read_temperature(text: str) -> float:
    """A number from 0 to 2."""
    return float(_read_number(text, high=2))


def read_micro_usd(text: str) -> int:
    """An amount of USD, in micro-USD."""
    return int(_read_number(text, high=MOST_USD) * 1_000_000)


def _read_number(text: str, *, high: int) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise ArgumentTypeError(f"{text!r} no es un número") from None
    if not value.is_finite() or not 0 <= value <= high:
        raise ArgumentTypeError(f"{text!r} no está entre 0 y {high}")
    return value


def read_commit(text: str) -> str:
    """A git SHA, whole or its first 7 characters or more: an empty variable of CI must not pass for a commit."""
    if not SHA.fullmatch(text):
        raise ArgumentTypeError(f"{text!r} no es un SHA de git: son de 7 a 40 cifras hexadecimales")
    return text.lower()
