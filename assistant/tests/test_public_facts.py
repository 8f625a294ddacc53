"""What anybody may ask about the complex, what is refused with a sentence, and that no answer says who plays."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from assistant import public_facts
from assistant.public_facts import CannotAnswer, MissingDate, describe_day, find_free_hours, get_availability, list_courts, tell_rules
from bookings.clock import in_lima
from bookings.demo import seed_complex, seed_week
from bookings.models import Booking, Court, Member
from bookings.services import block_court, book
from bookings.values import BlockRequest, BookingRequest

TODAY = "2026-03-09"  # ten in the morning
TOMORROW = "2026-03-10"
ALL_DAY = list(range(7, 22))


@pytest.fixture
def taken(court: Court, member: Member, now: dt.datetime) -> Court:
    """Tomorrow Rosa plays from 18 to 20 h, and the court is out of use from 8 to 11 h."""
    request = BookingRequest("fulbito", dt.date(2026, 3, 10), 18, 2, "Las Vicuñas")
    book(member=member, court=court, request=request, now=now)
    block_court(court=court, request=BlockRequest(dt.date(2026, 3, 10), 8, 3, "Rosa Quispe no pagó"), now=now)
    return court


def test_a_court_has_taken_and_free_hours(taken: Court, now: dt.datetime) -> None:
    answer = get_availability({"courtId": taken.pk, "date": TOMORROW}, now=now)
    assert answer.text == (
        "Fulbito 1 (Fulbito), martes 10/03/2026. Ocupadas: 8, 9, 10, 18, 19. Libres: 7, 11, 12, 13, 14, 15, 16, 17, 20, 21."
    )
    assert answer.facts == {
        "courtId": taken.pk,
        "court": "Fulbito 1",
        "date": TOMORROW,
        "occupied": [8, 9, 10, 18, 19],
        "free": [7, 11, 12, 13, 14, 15, 16, 17, 20, 21],
    }


def test_hours_that_have_begun_are_not_free(court: Court, now: dt.datetime) -> None:
    assert get_availability({"courtId": court.pk, "date": TODAY}, now=now).facts["free"] == list(range(11, 22))


def test_the_last_day_is_the_fourteenth(court: Court, now: dt.datetime) -> None:
    assert get_availability({"courtId": court.pk, "date": "2026-03-23"}, now=now).facts["free"] == ALL_DAY


def test_free_hours_of_a_sport_name_the_courts(taken: Court, now: dt.datetime) -> None:
    second = Court.objects.create(name="Fulbito 2", sport="fulbito", price_centimos_per_hour=6050)
    Court.objects.create(name="Fulbito 3", sport="fulbito", price_centimos_per_hour=6050, active=False)
    Court.objects.create(name="Vóley 1", sport="voley", price_centimos_per_hour=4000)
    answer = find_free_hours({"sport": "fulbito", "hours": 3, "date": TOMORROW}, now=now)
    both, one = [taken.pk, second.pk], [second.pk]
    courts = {7: one, 8: one, 9: one, 10: one, 11: both, 12: both, 13: both, 14: both, 15: both, 16: one, 17: one, 18: one, 19: one}
    assert answer.facts["starts"] == [{"startHour": hour, "courtIds": ids} for hour, ids in courts.items()]
    assert answer.text.splitlines()[:2] == [
        "Fulbito por 3 horas, martes 10/03/2026. Puede empezar a las:",
        "- 7:00, en Fulbito 2",
    ]


def test_without_hours_one_is_meant_and_a_full_day_says_so(court: Court, now: dt.datetime) -> None:
    block_court(court=court, request=BlockRequest(dt.date(2026, 3, 10), 7, 15), now=now)
    answer = find_free_hours({"sport": "fulbito", "date": TOMORROW}, now=now)
    assert answer.text == "Fulbito por 1 hora, martes 10/03/2026. No queda una hora libre."
    assert answer.facts == {"sport": "fulbito", "date": TOMORROW, "hours": 1, "starts": []}


def test_a_day_has_a_line_for_each_court(taken: Court, now: dt.datetime) -> None:
    assert describe_day({"date": TOMORROW}, now=now) == (
        "martes 10/03/2026.\nFulbito 1 (Fulbito): ocupadas 8, 9, 10, 18, 19; libres 7, 11, 12, 13, 14, 15, 16, 17, 20, 21."
    )


def test_courts_and_rules_are_told(court: Court) -> None:
    assert list_courts() == f'[{{"courtId": {court.pk}, "name": "Fulbito 1", "sport": "fulbito", "pricePerHour": "S/ 60.50"}}]'
    assert tell_rules() == (
        "Abrimos todos los días de 7:00 a 22:00. Se reserva de 1 a 3 horas, hasta 14 días antes, y se cancela hasta que empieza. "
        "Se juega: Fulbito, Vóley, Básquet."
    )


@pytest.mark.parametrize("ask", [get_availability, find_free_hours, describe_day])
def test_a_missing_date_is_told_apart_once_the_rest_is_right(ask: Callable[..., Any], court: Court, now: dt.datetime) -> None:
    rest: dict[Any, dict[str, Any]] = {get_availability: {"courtId": court.pk}, find_free_hours: {"sport": "voley"}, describe_day: {}}
    for missing in ({}, {"date": None}, {"date": ""}):
        with pytest.raises(MissingDate, match="Falta la fecha"):
            ask({**rest[ask], **missing}, now=now)


@pytest.mark.parametrize(
    ("date", "sentence"),
    [
        ("mañana", "«mañana» no es una fecha: date se escribe AAAA-MM-DD, por ejemplo 2026-03-09."),
        ("10/03/2026", "no es una fecha"),
        ("2026-02-30", "no es una fecha"),
        ("2026-3-10", "no es una fecha"),
        ("20260310", "no es una fecha"),
        ("٢٠٢٦-٠٣-١٠", "no es una fecha"),
        ("2026-03-10\n", "no es una fecha"),
        ("x" * 10_000, f"«{'x' * 40}» no es una fecha"),
        (20260310, "no es una fecha"),
        (["2026-03-10"], "no es una fecha"),
        (True, "no es una fecha"),
        ("2026-03-08", "domingo 08/03/2026 está fuera de lo que se puede consultar: de hoy, lunes 09/03/2026, al lunes 23/03/2026."),
        ("2026-03-24", "está fuera de lo que se puede consultar"),
        ("9999-12-31", "está fuera de lo que se puede consultar"),
        ("0001-01-01", "está fuera de lo que se puede consultar"),
    ],
)
def test_another_date_is_refused_with_a_sentence(court: Court, now: dt.datetime, date: Any, sentence: str) -> None:
    for ask, asked in ((get_availability, {"courtId": court.pk}), (find_free_hours, {"sport": "fulbito"}), (describe_day, {})):
        with pytest.raises(CannotAnswer) as refused:
            ask({**asked, "date": date}, now=now)
        assert sentence in str(refused.value)
        assert len(str(refused.value)) < 200


@pytest.mark.parametrize("number", [0, -1, 99, 2**31, 2**63, 10**400])
def test_a_court_that_does_not_exist_is_refused(court: Court, now: dt.datetime, number: int) -> None:
    with pytest.raises(CannotAnswer, match="No hay una cancha con el número"):
        get_availability({"courtId": number, "date": TOMORROW}, now=now)


def test_a_court_out_of_use_is_refused(court: Court, now: dt.datetime) -> None:
    Court.objects.update(active=False)
    with pytest.raises(CannotAnswer, match="No hay una cancha"):
        get_availability({"courtId": court.pk, "date": TOMORROW}, now=now)


@pytest.mark.parametrize("number", ["1", 1.0, True, None, [1], {"a": 1}, "1; DROP TABLE"])
def test_what_is_no_court_number_is_refused(court: Court, now: dt.datetime, number: Any) -> None:
    with pytest.raises(CannotAnswer, match="courtId es el número de una cancha"):
        get_availability({"courtId": number, "date": TOMORROW}, now=now)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"sport": "tenis"}, "Ese deporte no se juega aquí. Hay Fulbito, Vóley, Básquet. sport es uno de: fulbito, voley, basquet."),
        ({"sport": None}, "sport es uno de"),
        ({"sport": ["fulbito"]}, "sport es uno de"),
        ({"sport": "fulbito", "hours": 0}, "hours es un número entero de 1 a 3"),
        ({"sport": "fulbito", "hours": 4}, "hours es un número entero de 1 a 3"),
        ({"sport": "fulbito", "hours": "2"}, "hours es un número entero de 1 a 3"),
        ({"sport": "fulbito", "hours": True}, "hours es un número entero de 1 a 3"),
        ({"sport": "fulbito", "team": "Los Cóndores"}, "No existe el dato «team». Los datos son: sport, hours, date."),
        ({"sport": "fulbito", "a\x1b[2J\n": 1}, "No existe el dato «a�[2J�»."),
    ],
)
def test_other_arguments_are_refused_with_a_sentence(db: None, now: dt.datetime, asked: dict[str, Any], sentence: str) -> None:
    with pytest.raises(CannotAnswer) as refused:
        find_free_hours({**asked, "date": TOMORROW}, now=now)
    assert sentence in str(refused.value)


# --- Nobody is named ----------------------------------------------------------------------------------------------------


@pytest.fixture
def week(db: None) -> dt.datetime:
    """The demo's week around now, every member with a phone. Returns now."""
    now = timezone.now()
    list(seed_complex())
    for number, person in enumerate(Member.objects.all()):
        person.phone = f"9{number:08d}"
        person.save()
    list(seed_week(now=now))
    return now


def everything_told(now: dt.datetime, days_ahead: range = range(-1, 16)) -> str:
    """Every right answer there is about these days, and the refusals too."""
    said = [list_courts(), tell_rules()]
    for days in days_ahead:
        date = (in_lima(now).date() + dt.timedelta(days=days)).isoformat()
        asked: list[tuple[Any, dict[str, Any]]] = [(describe_day, {})]
        asked += [(get_availability, {"courtId": court.pk}) for court in Court.objects.all()]
        asked += [(find_free_hours, {"sport": sport, "hours": hours}) for sport in ("fulbito", "voley", "basquet") for hours in (1, 2, 3)]
        for ask, arguments in asked:
            try:
                said.append(str(ask({**arguments, "date": date}, now=now)))
            except CannotAnswer as refusal:
                said.append(str(refusal))
    return "\n".join(said)


def named_in(text: str) -> list[str]:
    """Names, phones and teams of people that the text holds."""
    people = [word for row in Member.objects.values_list("name", "phone", "team_name") for word in row]
    return sorted({word for word in [*people, *Booking.objects.values_list("team_name", flat=True)] if word and word in text})


def test_a_week_of_bookings_is_told_without_naming_anybody(week: dt.datetime) -> None:
    told = everything_told(week)
    assert Booking.objects.count() > 100
    assert told.count("Ocupadas: ") == 7 * 15
    assert named_in(told) == []


def test_control_an_answer_that_names_who_plays_is_found(week: dt.datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        public_facts, "_say_hours", lambda hours: ", ".join(str(booking.member) for booking in Booking.objects.select_related("member")[:9])
    )
    assert named_in(everything_told(week, range(1, 2))) != []
