"""Are the requests written as people really write? Rules of thumb for Spanish, from the letters alone. Pure.

They are told on purpose by few and plain signs: they miss mistakes, and seldom see one where there is none.
`docs/decisions/0032-the-health-of-a-dataset.md` says where they come from.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable

from rapidfuzz.distance import OSA

from evals.datasets.health.report import Check, DatasetFacts, grade
from evals.targets.booking import request_text

LIVELY, STIFF = 0.50, 0.20  # shares of the requests that show any sign
KINDS_OF_SIGN = 3
SHORT = 5  # words
FEWEST_LETTERS = 5  # of a word that is looked up with one mistake

_WORD = re.compile(r"[^\W\d_]+")


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Words that always carry an accent: nothing else is spelt the same without it.
_ACCENTED = _words(
    "acá adiós ahí allá allí aquí así atención básquet café después día días difícil dirección fácil fútbol información jamás lápiz "
    "mediodía miércoles ningún número ojalá pádel película perdón próxima próximo quizá quizás rápido razón sábado según también teléfono "
    "última últimas último últimos vóley"
)
# Looked up with one slip. The second list is right as it is, and one slip away from the first.
_COMMON = _words(
    "lunes martes miercoles jueves viernes sabado domingo noche tarde mañana pasado semana cancha reserva reservar separar quiero "
    "fulbito futbol voley basquet pichanga favor gracias precio horas"
)
_ALSO_RIGHT = frozenset(
    _words(
        "noches tardes tarda tardo mañanas pasada pasados pagado pesado semanas canchas reservas reservo reserve reservara separa separan "
        "quieres quiere precios basket favores"
    )
)
_MISSPELT = re.compile(
    r"\b(?:ola|oy|oras?|aver|aser|asta|noxe|kiero|nesecito|nesesito|re[sz]erb\w+|resev\w+|porfa[vb]or|x favor|alas (?=\w)|dela"
    r"|ala (?=tarde|noche|una)|canxa|kancha|b[oe]le[yi]|volle[yi]|fulvito|savado|biernes|juebes|q[aeio]\w*|ba[sz]k?et{2})\b"
)
_IMPOSSIBLE = re.compile(r"([a-zñ])\1\1|n(?=[bp])|ñn|nnn?(?=a)|yy|\bk(?=[aeiou])(?!allpa|ilo|ara|iosco)")
_CLIPPED = re.compile(
    r"\b(?:xfa|xfis|xq|pls|plis|porfa|porfis|pe|pa|pal|q|tb|tmb|ntp|grx|bnas|bna|d|x|mnn|mñn|mna|hrs?|dgo|dom|lun|mie|vie|sab|reserv|bsqt"
    r"|oe|causa|causita|broder|chochera|mano|pata|patas|pichanga|chamba|nomas|nomás|jaja\w*|al toque|a[sm]ap)\b"
    r"|\d(?:am|pm|hrs?|h|m)\b|[⚽🏐🏀🙏👍😅]"
)
_HANGING = re.compile(r"(?:\.\.\.|…|\b(?:de|a|las|los|la|el|para|con|y|o|en|que|pero))\s*$")


def check_writing(facts: DatasetFacts) -> Check:
    """The share of requests that show at least one sign of a person at a keyboard, and how often each sign was seen."""
    texts = [text for spec in facts.specs if (text := request_text(spec)).strip()]
    signs = [signs_of(text) for text in texts]
    seen = Counter(sign for found in signs for sign in found)
    real, n = sum(map(bool, signs)), len(texts)
    monotone = n > 0 and sum(count > 0 for count in seen.values()) < KINDS_OF_SIGN
    level = grade(lacking=real < STIFF * n, care=real < LIVELY * n or monotone)
    sentence = f"Escritos como escribe la gente, con alguna de estas señas: {real} de {n}."
    advice = "" if level == grade() else "Copia cómo escriben tus clientes: sin tildes, con faltas, en minúsculas, a medias."
    return Check("writing", "Escritura real", level, real, n, sentence, advice, rows=tuple((sign, seen[sign]) for sign in SIGNS))


def signs_of(text: str) -> frozenset[str]:
    """The keys of SIGNS that hold for a text."""
    return frozenset(name for name, holds in SIGNS.items() if holds(text))


def _lacks_accents(text: str) -> bool:
    """A word that always has an accent stands without it, or a question or exclamation does not open."""
    words = _WORD.findall(text.lower())
    bare = any(word in _BARE or (len(word) > 5 and word.endswith(("cion", "sion"))) for word in words)
    return bare or ("?" in text and "¿" not in text) or ("!" in text and "¡" not in text)


def _has_mistakes(text: str) -> bool:
    lower = text.lower()
    plain = _fold(lower)
    return bool(_MISSPELT.search(plain) or _IMPOSSIBLE.search(plain)) or any(map(_is_one_slip_away, _WORD.findall(plain)))


def _is_one_slip_away(word: str) -> bool:
    """One letter more, less, changed or swapped makes it a common word, and it is none itself."""
    if len(word) < FEWEST_LETTERS or word in _COMMON or word in _ALSO_RIGHT:
        return False
    return any(OSA.distance(word, common, score_cutoff=1) == 1 for common in _COMMON if common[0] == word[0])


def _is_lower_case(text: str) -> bool:
    """Begins with a small letter, or shouts from beginning to end."""
    letters = [character for character in text if character.isalpha()]
    return bool(letters) and (letters[0].islower() or (len(letters) > SHORT and all(map(str.isupper, letters))))


def _is_cut_off(text: str) -> bool:
    """A few words, or a sentence that hangs in the air."""
    return len(text.split()) <= SHORT or bool(_HANGING.search(text.lower()))


def _is_clipped(text: str) -> bool:
    return bool(_CLIPPED.search(text.lower()))


def _fold(text: str) -> str:
    """Without accents; ñ stays."""
    kept = text.replace("ñ", "\0")
    plain = "".join(character for character in unicodedata.normalize("NFKD", kept) if not unicodedata.combining(character))
    return plain.replace("\0", "ñ")


_BARE = frozenset(map(_fold, _ACCENTED)) | {"manana"}

SIGNS: dict[str, Callable[[str], bool]] = {
    "sin tildes ni ¿ ¡": _lacks_accents,
    "con faltas": _has_mistakes,
    "en minúsculas": _is_lower_case,
    "a medias": _is_cut_off,
    "abreviado o con jerga": _is_clipped,
}
