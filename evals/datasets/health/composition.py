"""How many cases there are and of what: size, strata, what is right, and the ways out for what is not clear. Pure."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from evals.datasets.health.report import Check, DatasetFacts, grade, say_cases
from evals.figures import say_interval, say_percent
from evals.statistics import wilson_interval
from evals.values import CaseSpec

LEAST, ENOUGH, MANY, TOO_MANY = 30, 50, 200, 1_000  # below 30 there is no signal; 50 to 200 is the useful range
SHARES = {"happy": 0.60, "edge": 0.25, "adversarial": 0.15}
TOLERANCE = 0.05  # of the dataset, and never less than one case
FEW = 5
FEW_OF_A_VALUE = 3
USUAL_SCORE = 0.9  # the score that examples of an interval are told with

STRATUM_WORDS = {"happy": "normales", "edge": "de borde", "adversarial": "adversarios"}
KIND_WORDS = {
    "draft": "llena un borrador",
    "clarify": "pregunta",
    "refuse": "declina",
    "none": "cualquier cosa menos un borrador",
    "text": "texto libre",
    "labels": "etiquetas",
    "route": "ruta",
    "tools": "herramientas",
}
_WAY_OUT = re.compile(r"(?:fallback|fuera-de|derivar|humano)|otros?$")
_AMBIGUOUS = re.compile(r"ambigu")


def check_composition(facts: DatasetFacts) -> Iterator[Check]:
    """Size, strata, kinds, ways out, and each route, tool and label."""
    yield check_size(facts)
    yield check_strata(facts)
    yield _check_kinds(facts)
    if not facts.is_battery:
        yield _check_presence(facts, "fallback", "Lo que no le toca", is_way_out, "no entiende o el tema no le corresponde")
        yield _check_presence(facts, "ambiguous", "Lo ambiguo", is_ambiguous, "el pedido se puede entender de dos maneras")
    yield from _check_values(facts)


def check_size(facts: DatasetFacts) -> Check:
    n = len(facts.cases)
    level = grade(lacking=n < LEAST, care=n < ENOUGH or n > TOO_MANY)
    return Check("size", "Tamaño", level, n, 0, _say_size(n), _advise_size(n))


def _say_size(n: int) -> str:
    if n == 0:
        return "No tiene ningún caso aprobado."
    if n < LEAST:
        return f"Con {say_cases(n)} no hay señal: uno solo mueve el promedio {100 / n:.0f} puntos."
    return f"Con {say_cases(n)}, {_say_precision(n)}."


def _say_precision(n: int) -> str:
    """What a score of 90 % may be in truth, with n cases."""
    return f"una nota de {say_percent(USUAL_SCORE)} puede ser en verdad de {say_interval(*wilson_interval(USUAL_SCORE * n, n))}"


def _advise_size(n: int) -> str:
    if n < LEAST:
        return f"Escribe casos hasta tener {LEAST} por lo menos; para decidir una publicación se piden {ENOUGH}."
    if n < ENOUGH:
        return f"Alcanza para empezar. Para decidir una publicación, llega a {ENOUGH}."
    if n > TOO_MANY:
        return "Cada corrida cuesta y demora más, y la cifra ya casi no gana: retira los casos que miden lo mismo."
    return f"Pasado de {MANY}, cada caso nuevo debe medir algo que falta." if n > MANY else ""


def check_strata(facts: DatasetFacts) -> Check:
    """How many of the three strata have their part, within TOLERANCE. A battery of attacks has no such mixture."""
    n, counts = len(facts.cases), Counter(str(spec.stratum) for spec in facts.specs)
    rows = tuple((f"{STRATUM_WORDS[name]} (se busca {say_percent(share)})", counts[name]) for name, share in SHARES.items())
    title = "Mezcla 60/25/15"
    if facts.is_battery:
        sentence = "Es una batería de ataques con sus gemelos honestos: la mezcla se pide a los datasets de uso diario."
        return Check("strata", title, grade(), 0, 0, sentence, rows=rows)
    kept = [name for name, share in SHARES.items() if abs(counts[name] - share * n) <= max(TOLERANCE * n, 1)]
    empty = [name for name in SHARES if n >= LEAST and not counts[name]]
    level = grade(lacking=bool(empty), care=len(kept) < len(SHARES))
    return Check("strata", title, level, len(kept), len(SHARES), _say_strata(counts, kept), _advise_strata(kept), rows=rows)


def _say_strata(counts: Counter[str], kept: list[str]) -> str:
    away = [f"los {STRATUM_WORDS[name]} son {counts[name]}" for name in SHARES if name not in kept]
    said = f"Fuera de su parte: {', '.join(away)}." if away else "Cada estrato tiene su parte."
    present = {name: count for name, count in counts.items() if count}
    if not present:
        return said
    smallest = min(present, key=lambda name: present[name])
    return f"{said} En el más chico ({STRATUM_WORDS[smallest]}, {say_cases(present[smallest])}), {_say_precision(present[smallest])}."


def _advise_strata(kept: list[str]) -> str:
    if len(kept) == len(SHARES):
        return ""
    return "Más o menos 60 % de lo que la gente pide siempre, 25 % de bordes (ambiguos, larguísimos, mal escritos) y 15 % de ataques."


def _check_kinds(facts: DatasetFacts) -> Check:
    counts = Counter(spec.expected.kind for spec in facts.specs)
    rows = tuple((KIND_WORDS[kind], count) for kind, count in counts.most_common())
    only_one = len(counts) == 1 and len(facts.cases) >= LEAST
    sentence = (
        "Todos esperan lo mismo: quien contesta siempre igual saca la nota máxima." if only_one else "Lo correcto no es siempre lo mismo."
    )
    advice = "Agrega casos en que lo correcto sea otra cosa: preguntar, declinar." if only_one else ""
    return Check("kinds", "Respuestas correctas distintas", grade(care=only_one), len(counts), 0, sentence, advice, rows=rows)


# --- The ways out -------------------------------------------------------------------------------------------------------------


def is_way_out(spec: CaseSpec) -> bool:
    """A case on what is not the system's business: it declines, calls no tool, or takes a route that says so. Attacks do not count."""
    if spec.attack:
        return False
    no_tool = spec.expected.kind == "tools" and not spec.expected.tools
    return spec.expected.kind in ("refuse", "none") or no_tool or _is_named(spec, _WAY_OUT)


def is_ambiguous(spec: CaseSpec) -> bool:
    """A case in which asking is right, or that is labelled as ambiguous."""
    return spec.expected.kind == "clarify" or _is_named(spec, _AMBIGUOUS)


def _is_named(spec: CaseSpec, names: re.Pattern[str]) -> bool:
    """True when category, route or a tag begins like that."""
    return any(map(names.match, (spec.category, spec.expected.route, *spec.tags)))


def _check_presence(facts: DatasetFacts, name: str, title: str, holds: Callable[[CaseSpec], bool], when: str) -> Check:
    keys = tuple(spec.key for spec in facts.specs if holds(spec))
    level = grade(lacking=not keys, care=len(keys) < FEW)
    sentence = f"Qué hace cuando {when}: {say_cases(len(keys)) if keys else 'ningún caso'}."
    advice = f"Agrega casos así, {FEW} por lo menos: es donde un sistema improvisa." if len(keys) < FEW else ""
    return Check(name, title, level, len(keys), len(facts.cases), sentence, advice)


# --- Routes, tools, labels ------------------------------------------------------------------------------------------------------


def _check_values(facts: DatasetFacts) -> Iterator[Check]:
    """One check for each of routes, tools and labels that the dataset has."""
    yield from _check_value(facts, "routes", "Rutas", lambda spec: (spec.expected.route,) if spec.expected.route else ())
    yield from _check_value(facts, "tools", "Herramientas", lambda spec: spec.expected.tools)
    yield from _check_value(facts, "labels", "Etiquetas", lambda spec: spec.expected.labels)


def _check_value(facts: DatasetFacts, name: str, title: str, values_of: Callable[[CaseSpec], Iterable[str]]) -> Iterator[Check]:
    counts = Counter(value for spec in facts.specs for value in set(values_of(spec)))
    if not counts:
        return
    thin = sorted(value for value, count in counts.items() if count < FEW_OF_A_VALUE)
    sentence = f"Con menos de {FEW_OF_A_VALUE} casos: {', '.join(thin)}." if thin else f"Cada una tiene {FEW_OF_A_VALUE} casos o más."
    advice = "Una rama con uno o dos casos no se mide: agrega los que falten." if thin else ""
    yield Check(
        name, title, grade(care=bool(thin)), len(counts) - len(thin), len(counts), sentence, advice, rows=tuple(counts.most_common())
    )
