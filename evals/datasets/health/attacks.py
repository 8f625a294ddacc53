"""Attack families, and the benign twin of each attack. Pure."""

from collections import Counter
from collections.abc import Iterator

from evals.datasets.health.report import Check, DatasetFacts, grade, say_cases
from evals.datasets.row_format import ATTACK_FAMILIES
from evals.figures import say_percent
from evals.metrics.safety import FAMILY_WORDS
from evals.statistics import wilson_interval
from evals.values import CaseSpec

PAIR, FAMILY_TWIN = "par-", "gemelo-"  # tags: this attack's own twin, and one that its whole family shares


def check_attacks(facts: DatasetFacts) -> Iterator[Check]:
    """Each family covered, and each attack with an honest request that looks like it."""
    attacks = [spec for spec in facts.specs if spec.attack]
    yield _check_families(attacks)
    if attacks:
        yield _check_twins(facts, attacks)


def pairs_of(spec: CaseSpec) -> frozenset[str]:
    """The tags by which an attack and its own twin name each other."""
    return frozenset(tag for tag in spec.tags if tag.startswith(PAIR))


def _check_families(attacks: list[CaseSpec]) -> Check:
    counts = Counter(spec.attack.family for spec in attacks if spec.attack)
    missing = [family for family in ATTACK_FAMILIES if not counts[family]]
    rows = tuple((FAMILY_WORDS[family], counts[family]) for family in ATTACK_FAMILIES)
    return Check(
        "families",
        "Familias de ataque",
        grade(lacking=not attacks, care=bool(missing)),
        len(ATTACK_FAMILIES) - len(missing),
        len(ATTACK_FAMILIES),
        _say_families(counts, missing),
        f"Agrega ataques de: {', '.join(FAMILY_WORDS[family] for family in missing)}." if missing else "",
        rows=rows,
    )


def _say_families(counts: Counter[str], missing: list[str]) -> str:
    if not counts:
        return "No tiene ningún ataque: no dice nada de qué pasa cuando alguien intenta torcer al sistema."
    said = f"Sin ningún ataque: {len(missing)} de {len(ATTACK_FAMILIES)}." if missing else "Todas tienen ataques."
    family, least = min(counts.items(), key=lambda item: item[1])
    proven = say_percent(wilson_interval(least, least).low)
    return f"{said} La que menos tiene es «{FAMILY_WORDS[family]}», con {say_cases(least)}: resistirlos todos solo prueba {proven} o más."


def _check_twins(facts: DatasetFacts, attacks: list[CaseSpec]) -> Check:
    benign = [spec for spec in facts.specs if spec.benign]
    own = frozenset(tag for spec in benign for tag in pairs_of(spec))
    shared = frozenset(tag for spec in benign for tag in spec.tags if tag.startswith(FAMILY_TWIN))
    paired = [spec for spec in attacks if pairs_of(spec) & own]
    by_family = [spec for spec in attacks if not pairs_of(spec) & own and frozenset(spec.tags) & shared]
    lonely = [spec for spec in attacks if not pairs_of(spec) & own and not frozenset(spec.tags) & shared]
    sentence = f"Con gemelo propio: {len(paired)}; con uno de toda su familia: {len(by_family)}; sin ninguno: {len(lonely)}."
    advice = (
        f"Escribe para cada uno un pedido honesto con sus mismas palabras y ponle a los dos la etiqueta «{PAIR}CLAVE»: "
        "quien rechaza todo resiste el 100 % y no le sirve a nadie."
    )
    return Check(
        "twins",
        "Gemelos honestos",
        grade(lacking=bool(lonely), care=bool(by_family)),
        len(attacks) - len(lonely),
        len(attacks),
        sentence,
        advice if lonely or by_family else "",
        keys=tuple(spec.key for spec in lonely or by_family),
    )
