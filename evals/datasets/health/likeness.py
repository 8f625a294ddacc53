"""Cases that measure the same thing twice. Pure; bounded work, also with 10,000 cases."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rapidfuzz import process
from rapidfuzz.fuzz import ratio

from evals.datasets.health.attacks import pairs_of
from evals.datasets.health.report import Alike, Check, DatasetFacts, grade, say_cases
from evals.figures import say_number
from evals.targets.booking import request_text
from evals.values import CaseSpec

ALIKE = 85  # of 100; the same limit as the shipped datasets' own test of diversity
FEW, MANY = 0.05, 0.20  # shares of the dataset
COMPARED_CHARACTERS = 300
MOST_WORK = 100_000_000  # of `_cost`: about five seconds of processor time
MOST_WORK_AT_ONCE = MOST_WORK // 3  # while somebody waits for a page: 5,000 requests against 5,000 fit
MOST_EQUALS = 20  # earlier cases of the same words that a case is held against

_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")


class Found(NamedTuple):
    """Cases that resemble an earlier one, and how many different texts were compared with each other."""

    alike: tuple[Alike, ...]
    compared: int
    texts: int


def check_likeness(facts: DatasetFacts) -> Check:
    found, n = find_alike(facts.specs), len(facts.cases)
    keys = tuple(dict.fromkeys(pair.key for pair in found.alike))
    cut = found.compared < found.texts
    many = say_cases(len(keys)) if keys else "ninguno"
    sentence = f"Repiten a otro casi con las mismas palabras, sin contar los números: {many}."
    if cut:
        sentence += f" Se compararon los {say_number(found.compared)} textos más cortos de {say_number(found.texts)}."
    advice = "Deja uno de cada par y cambia el otro por algo que falte: dos iguales pesan doble y no enseñan más." if keys else ""
    level = grade(lacking=len(keys) > MANY * n, care=len(keys) > FEW * n or cut)
    return Check("likeness", "Casos casi repetidos", level, len(keys), n, sentence, advice, keys=keys, alike=found.alike)


def find_alike(specs: Sequence[CaseSpec]) -> Found:
    """Each case whose words are at least ALIKE to those of an earlier one, digits aside.

    Two kinds of pairs are alike on purpose and left out: an attack and its twin, and the same words in another situation
    with another right answer.
    """
    by_words: dict[str, list[CaseSpec]] = defaultdict(list)
    for spec in specs:
        if words := even_out(request_text(spec)):
            by_words[words].append(spec)
    equal = [pair for same in by_words.values() for pair in _among_equals(same)]
    order = {spec.key: place for place, spec in enumerate(specs)}
    texts = sorted(by_words, key=len)
    compared, near = _among_different(texts)
    pairs = (_pair(by_words[one], by_words[other], order) for one, other in near)
    return Found((*equal, *(pair for pair in pairs if pair)), compared, len(texts))


def find_closest(fresh: Sequence[CaseSpec], known: Sequence[CaseSpec]) -> Found:
    """Each fresh case whose words are at least ALIKE to those of a known one, with the closest of them, digits aside."""
    by_words: dict[str, str] = {}
    for spec in known:
        by_words.setdefault(even_out(request_text(spec)), spec.key)
    by_words.pop("", None)
    texts = sorted(by_words, key=len)
    lengths = [len(text) for text in texts]
    left, found = MOST_WORK_AT_ONCE, list[Alike]()
    for place, spec in enumerate(fresh):
        words = even_out(request_text(spec))
        start = bisect_left(lengths, len(words) * ALIKE / (200 - ALIKE))
        end = bisect_right(lengths, len(words) * (200 - ALIKE) / ALIKE)
        left -= (end - start) * _cost(len(words))
        if left < 0:
            return Found(tuple(found), place, len(fresh))
        closest = words if words in by_words else _closest(words, texts[start:end])
        if closest:
            found.append(Alike(spec.key, by_words[closest]))
    return Found(tuple(found), len(fresh), len(fresh))


def _closest(words: str, texts: Sequence[str]) -> str:
    match = process.extractOne(words, texts, scorer=ratio, score_cutoff=ALIKE)
    return match[0] if match else ""


def even_out(text: str) -> str:
    """Lower case without accents, signs or figures, cut to COMPARED_CHARACTERS: «a las 8» and «a las 9» read the same."""
    decomposed = unicodedata.normalize("NFKD", text[:COMPARED_CHARACTERS].lower())
    plain = "".join(character for character in decomposed if not unicodedata.combining(character))
    return _DIGIT.sub("0", " ".join(_WORD.findall(plain)))


def _among_equals(same: Sequence[CaseSpec]) -> Iterator[Alike]:
    for place, spec in enumerate(same):
        earlier = (other for other in same[max(0, place - MOST_EQUALS) : place] if not _is_on_purpose(spec, other))
        if (first := next(earlier, None)) is not None:
            yield Alike(spec.key, first.key)


def _is_on_purpose(one: CaseSpec, other: CaseSpec) -> bool:
    same_text = request_text(one) == request_text(other)
    return bool(pairs_of(one) & pairs_of(other)) or (same_text and one.expected != other.expected)


def _among_different(texts: Sequence[str]) -> tuple[int, list[tuple[str, str]]]:
    """How many of the texts (in order of length) were compared, and the pairs that are alike.

    Two texts of lengths a < b have at most 2a/(a+b) in common, so each is compared only with the somewhat longer ones.
    """
    lengths = [len(text) for text in texts]
    left = MOST_WORK
    found: list[tuple[str, str]] = []
    for place, text in enumerate(texts):
        end = bisect_right(lengths, len(text) * (200 - ALIKE) // ALIKE, lo=place)
        left -= (end - place) * _cost(len(text))
        if left < 0:
            return place, found
        matches = process.extract(text, texts[place + 1 : end], scorer=ratio, score_cutoff=ALIKE, limit=None)
        found += [(text, other) for other, _, _ in matches]
    return len(texts), found


def _cost(letters: int) -> int:
    """What one comparison costs: a text is compared 64 letters at a time with each letter of the other."""
    return 1 + letters * (letters // 64 + 1) // 64


def _pair(some: Sequence[CaseSpec], others: Sequence[CaseSpec], order: dict[str, int]) -> Alike | None:
    """The first of each, unless they are alike on purpose; the later one resembles the earlier."""
    one, other = sorted((some[0], others[0]), key=lambda spec: order[spec.key])
    return None if _is_on_purpose(one, other) else Alike(other.key, one.key)
