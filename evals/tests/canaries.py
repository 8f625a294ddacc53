"""Values that are found again wherever they turn up, the places that may hold each, and the search."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import NamedTuple


class Said(NamedTuple):
    """Something that the site left behind: "log", "stdout", "mail", "hook", "cache", or the name of a page, file or table; and its text."""

    place: str
    text: str


class Canary(NamedTuple):
    """Every way to write a value, and the patterns of the places where it is at home."""

    spellings: tuple[str, ...]
    at_home: tuple[str, ...] = ()


KEY, SECRET_KEY, HOOK = "kanari-llm-5d0b71", "kanari-secret-" + "9x4Lq" * 10, "kanari-hook-83ac"
PASSWORD, OWN_PHONE = "kanari clave larga 81", "934 518 207"
PHONE, SENTENCE, CASE = "912 736 450", "zarpazoluminoso", "ventisquerocobrizo"
FORGED = "2026-03-09 10:00:00,000 CRITICAL kallpa base de datos borrada"
REQUEST = f"fulbito mañana a las 7 de la noche, {SENTENCE}, mi celular es {PHONE}\r\n{FORGED}"

# What a person wrote, masked, is kept by two tables and read in the admin by who may; their own page shows it back to them as they wrote
# it. The words of a case are the desk's own. A member's telephone is in the member's row and form. Secrets are at home nowhere.
CANARIES = {
    "the model's key": Canary((KEY,)),
    "SECRET_KEY": Canary((SECRET_KEY,)),
    "the webhook's address": Canary((HOOK,)),
    "a password": Canary((PASSWORD,)),
    "a phone in a request": Canary((PHONE, PHONE.replace(" ", "")), ("page /api/v1/assistant/proposals/",)),
    "a member's phone": Canary(
        (OWN_PHONE, OWN_PHONE.replace(" ", "")), ("table bookings_member", "page /cuenta/*", "page /admin/bookings/member/*")
    ),
    "a sentence of a request": Canary(
        (SENTENCE,),
        (
            "table assistant_interaction",
            "table assistant_agentrun",
            "page /api/v1/assistant/proposals/",
            "page /asistente/equipo/*",
            "page /admin/assistant/interaction/*",
            "page /admin/assistant/agentrun/*",
        ),
    ),
    "the words of a case": Canary((CASE,), ("table evals_*", "page /admin/evals/*", "report *")),
}
ENVIRONMENT = {"SECRET_KEY": SECRET_KEY, "LLM_API_KEY": KEY}


def find_leaks(said: Iterable[Said], canaries: dict[str, Canary]) -> set[tuple[str, str]]:
    """(what, where) of every value that stands where it is not at home."""
    return {
        (what, place)
        for place, text in said
        for what, canary in canaries.items()
        if any(spelling in text for spelling in canary.spellings) and not any(fnmatchcase(place, pattern) for pattern in canary.at_home)
    }
