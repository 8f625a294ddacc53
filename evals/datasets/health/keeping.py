"""How the dataset is looked after: owner, reviews, blocking cases, recordings, held-out cases, personal data. Pure."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

from assistant.pii import mask
from evals.datasets.health.report import CaseFacts, Check, DatasetFacts, grade, say_cases
from evals.figures import say_number

QUARTER = timedelta(days=92)
HELD_OUT_LEAST, HELD_OUT_MOST = 0.10, 0.40  # shares of the dataset
FEW_OPENINGS = 5


def check_keeping(facts: DatasetFacts) -> Iterator[Check]:
    """Owner, reviews, blocking, recordings, held out, personal data."""
    yield _check_owner(facts)
    yield _check_reviews(facts)
    yield _check_blocking(facts)
    yield _check_recordings(facts)
    yield _check_held_out(facts)
    yield _check_personal_data(facts)


def _check_owner(facts: DatasetFacts) -> Check:
    sentence = (
        "Tiene una persona del negocio que responde por él."
        if facts.owned
        else "Nadie del negocio responde por él, y nadie lo puede firmar."
    )
    advice = "" if facts.owned else "Elige a su dueño en la página del dataset."
    return Check("owner", "Dueño de negocio", grade(lacking=not facts.owned), int(facts.owned), 1, sentence, advice)


def _check_reviews(facts: DatasetFacts) -> Check:
    """A case counts as reviewed when somebody edited it, or the owner signed it as it is."""
    n = len(facts.cases)
    stale = tuple(case.spec.key for case in facts.cases if not _is_fresh(case, facts))
    level = grade(lacking=len(stale) * 2 > n, care=bool(stale))
    sentence = f"Sin que nadie los edite ni los firme en {QUARTER.days} días: {say_cases(len(stale)) if stale else 'ninguno'}."
    advice = "Repásalos con quien conoce el negocio (precios, horarios y reglas cambian) y firma de nuevo." if stale else ""
    return Check("reviews", "Revisados este trimestre", level, n - len(stale), n, sentence, advice, keys=stale)


def _is_fresh(case: CaseFacts, facts: DatasetFacts) -> bool:
    return case.reviewed_at is not None and facts.now - case.reviewed_at <= QUARTER


def _check_blocking(facts: DatasetFacts) -> Check:
    blocking = sum(spec.blocking for spec in facts.specs)
    forbidding = sum(bool(spec.never_say) for spec in facts.specs)
    sentence = f"Si falla uno solo, falla la corrida entera: {say_cases(blocking) if blocking else 'ninguno'}."
    advice = "" if blocking else "Marca como bloqueantes los que nunca pueden fallar: un buen promedio los esconde."
    rows = (("bloqueantes", blocking), ("con algo que nunca debe decir", forbidding))
    return Check("blocking", "Bloqueantes", grade(lacking=not blocking), blocking, len(facts.cases), sentence, advice, rows=rows)


def _check_recordings(facts: DatasetFacts) -> Check:
    n = len(facts.cases)
    without = tuple(case.spec.key for case in facts.cases if not case.recordings)
    sets = Counter(stored.set_name for case in facts.cases for stored in case.recordings)
    sentence = (
        f"Sin ninguna grabación: {say_cases(len(without))}. Solo un modelo real los puede contestar."
        if without
        else "Todos se pueden correr con guion."
    )
    advice = "Graba una respuesta para cada uno, buena o mala: así se mide nuestro código sin pagar un modelo." if without else ""
    level = grade(care=bool(without))
    return Check("recordings", "Con grabación", level, n - len(without), n, sentence, advice, keys=without, rows=tuple(sets.most_common()))


def _check_held_out(facts: DatasetFacts) -> Check:
    held, n = sum(spec.held_out for spec in facts.specs), len(facts.cases)
    share = held / n if n else 0.0
    level = grade(care=not HELD_OUT_LEAST <= share <= HELD_OUT_MOST or facts.openings >= FEW_OPENINGS)
    said = f"Se corren solo para publicar y nadie los mira al iterar: {say_cases(held) if held else 'ninguno'}."
    return Check(
        "held_out", "Reservados", level, held, n, f"{said} {_say_openings(facts.openings)}", _advise_held_out(share, facts.openings)
    )


def _say_openings(openings: int) -> str:
    return f"Se abrieron {say_number(openings)} ve{'z' if openings == 1 else 'ces'}."


def _advise_held_out(share: float, openings: int) -> str:
    if share < HELD_OUT_LEAST:
        return "Reserva del 10 al 40 % de los casos: sin ellos se termina ajustando el sistema a este examen y no a la gente."
    if share > HELD_OUT_MOST:
        return "Más de 40 % reservado deja poco con qué trabajar: suelta algunos."
    return "Caso abierto varias veces ya no es sorpresa: reserva otros y suelta esos." if openings >= FEW_OPENINGS else ""


def _check_personal_data(facts: DatasetFacts) -> Check:
    """Names the cases and the kinds of data, never a datum."""
    found = {case.spec.key: found_in for case in facts.cases if (found_in := _kinds_in(case))}
    kinds = Counter(kind for each in found.values() for kind in each)
    many = say_cases(len(found)) if found else "ninguno"
    sentence = f"En textos, notas, documentos y grabaciones se reconoce un dato personal: {many}."
    advice = "Míralos: si son de una persona real, cámbialos por inventados antes de firmar." if found else ""
    n, rows = len(facts.cases), tuple((KIND_WORDS[kind], count) for kind, count in kinds.most_common())
    return Check(
        "personal_data", "Datos personales", grade(care=bool(found)), len(found), n, sentence, advice, keys=tuple(found), rows=rows
    )


KIND_WORDS = {
    "dni": "DNI",
    "ruc": "RUC",
    "ce": "carné de extranjería",
    "mobile": "celular",
    "landline": "teléfono fijo",
    "email": "correo",
    "card": "tarjeta",
    "cci": "CCI",
    "name": "nombre",
}


def _kinds_in(case: CaseFacts) -> set[str]:
    return {kind for text in _texts_of(case) for kind in mask(text).found}


def _texts_of(case: CaseFacts) -> Iterator[str]:
    """Everything in a case that somebody may have copied from a conversation."""
    spec = case.spec
    yield from (spec.text, spec.notes, spec.known_limitation, spec.expected.text, *spec.documents)
    yield from (str(message["content"]) for message in spec.messages)
    yield from (hour.team for hour in spec.occupied if hour.team)
    yield from (line.text for line in spec.never_say)
    yield from (stored.text for stored in case.recordings)
