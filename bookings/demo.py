"""A complex to look at: courts, neighbours, and a week around today. Each part is made once; what exists is never touched."""

import datetime as dt
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple
from zlib import crc32

from django.db import transaction

from bookings.accounts import Profile, create_account, is_taken
from bookings.clock import LIMA, in_lima
from bookings.models import Booking, Court, CourtBlock, Member
from bookings.rules import CLOSES_AT, OPENS_AT
from bookings.services import HourTaken, block_court, book, cancel
from bookings.values import BlockRequest, BookingRequest

COURTS = (
    ("Losa 1", "fulbito", 6_000),
    ("Losa 2", "fulbito", 6_000),
    ("Losa 3 techada", "fulbito", 9_000),
    ("Cancha de vóley", "voley", 4_000),
    ("Vóley del parque", "voley", 3_500),
    ("Cancha de básquet", "basquet", 4_500),
    ("Básquet techado", "basquet", 6_500),
)
# Who plays what, and under which name.
PLAYERS = {
    "fulbito": (
        ("Rosa Quispe", "Las Panteras de Surco"),
        ("Percy Mamani", "Deportivo Cahuide"),
        ("Wilder Apaza", "Los Halcones"),
        ("Jorge Chumpitaz", "Real Surquillo"),
        ("Milagros Ayala", "Chicas de Barrio"),
        ("Edwin Ccori", "Sport Pamplona"),
        ("Luis Yupanqui", "Los Compadres FC"),
        ("Kevin Salcedo", "Unión Villa María"),
        ("Daniel Robles", "La Banda del Jirón"),
        ("Sandra Vílchez", "Atlético La Bolichera"),
    ),
    "voley": (
        ("Elena Ticona", "Voleibol del Parque"),
        ("Carmen Huaraca", "Las Mates"),
        ("Yesenia Poma", "Club Regatitas"),
        ("Gladys Ñahui", "Mamás del Colegio"),
        ("Fiorella Cárdenas", "Bloqueo Total"),
    ),
    "basquet": (
        ("Noemí Tinco", "Triple Doble"),
        ("Álvaro Zegarra", "Los Aros de Barranco"),
        ("Martín Laura", "Rebote Limeño"),
        ("Diana Cusi", "Canasta Brava"),
    ),
}
NEIGHBOUR_EMAIL = "vecina@kallpa.test"
NEIGHBOUR = Profile(name="Lucía Huamán", phone="", team_name="Las Chalacas")
FIRST_DAY, LAST_DAY = -3, 9
Playing = set[tuple[int, int]]  # member and hour, of one day
NO_TEAM, CANCELLED = 12, 4  # of a hundred bookings


class Slot(NamedTuple):
    """Hours of a court that somebody might want."""

    court: Court
    date: dt.date
    hour: int


def seed_complex() -> Iterator[str]:
    """Makes courts and members where there are none; says what it made, one sentence each."""
    if not Court.objects.exists():
        Court.objects.bulk_create(Court(name=name, sport=sport, price_centimos_per_hour=price) for name, sport, price in COURTS)
        yield f"{len(COURTS)} canchas."
    if not Member.objects.exists():
        people = [player for players in PLAYERS.values() for player in players]
        Member.objects.bulk_create(Member(name=name, team_name=team) for name, team in people)
        yield f"{len(people)} miembros."


def seed_neighbour(*, password: str) -> Iterator[str]:
    """The account of a neighbour, unless somebody has its address."""
    if not is_taken(NEIGHBOUR_EMAIL):
        create_account(email=NEIGHBOUR_EMAIL, password=password, profile=NEIGHBOUR)
        yield f"Vecina «{NEIGHBOUR_EMAIL}»."


def seed_week(*, now: dt.datetime) -> Iterator[str]:
    """Fills the days around today, the same for the same day; nothing while a booking or a block is still to come. `now` is aware."""
    today = in_lima(now).date()
    if not (Booking.objects.filter(date__gte=today).exists() or CourtBlock.objects.filter(date__gte=today).exists()):
        _fill_week(today, now)
        yield f"{Booking.objects.filter(date__gte=today).count()} reservas de hoy en adelante y una cancha en mantenimiento."


@transaction.atomic
def _fill_week(today: dt.date, now: dt.datetime) -> None:
    courts = list(Court.objects.filter(active=True))
    for court in courts[-1:]:
        _block(court, today + dt.timedelta(days=2), now)
    _book_for_the_neighbour(courts, today, now)
    members = {member.name: member for member in Member.objects.filter(user=None)}
    for days in range(FIRST_DAY, LAST_DAY + 1):
        playing: Playing = set()
        for court in courts:
            _fill_day(court, today + dt.timedelta(days=days), members, playing, now)


def _block(court: Court, date: dt.date, now: dt.datetime) -> None:
    with suppress(HourTaken):
        block_court(court=court, request=BlockRequest(date, 8, 4, "Mantenimiento del piso"), now=now)


def _book_for_the_neighbour(courts: list[Court], today: dt.date, now: dt.datetime) -> None:
    member = Member.objects.filter(user__username=NEIGHBOUR_EMAIL).first()
    court = next((court for court in courts if court.sport == "fulbito"), None)
    if member and court:
        for days in (-2, 1, 5):
            _book(member, Slot(court, today + dt.timedelta(days=days), 19), 1, member.team_name, now)


def _fill_day(court: Court, date: dt.date, members: dict[str, Member], playing: Playing, now: dt.datetime) -> None:
    players = [(members[name], team) for name, team in PLAYERS[court.sport] if name in members]
    hour = OPENS_AT
    while players and hour < CLOSES_AT:
        slot, length = Slot(court, date, hour), 1
        if _draw(slot, "demand") < _demand(slot, today=in_lima(now).date()):
            length = 2 if _draw(slot, "length") < 35 and hour + 2 <= CLOSES_AT else 1
            member, team = _next_free(players, _draw(slot, "team"), range(hour, hour + length), playing)
            _book(member, slot, length, "" if _draw(slot, "no team") < NO_TEAM else team, now)
        hour += length


def _next_free(players: list[tuple[Member, str]], first: int, hours: range, playing: Playing) -> tuple[Member, str]:
    """Who plays then: nobody is on two courts at once while somebody else can come."""
    turns = [players[(first + turn) % len(players)] for turn in range(len(players))]
    chosen = next((turn for turn in turns if playing.isdisjoint((turn[0].pk, hour) for hour in hours)), turns[0])
    playing.update((chosen[0].pk, hour) for hour in hours)
    return chosen


def _demand(slot: Slot, *, today: dt.date) -> int:
    """How many of a hundred such hours are wanted: evenings and weekends most, and less the farther away the day is."""
    is_weekend = slot.date.weekday() >= 5
    if slot.hour >= 18:
        wanted = 70 if is_weekend else 85
    elif is_weekend:
        wanted = 65 if slot.hour in range(9, 13) else 40
    else:
        wanted = 30 if slot.hour >= 16 else 8
    return wanted - 5 * max((slot.date - today).days, 0)


def _book(member: Member, slot: Slot, hours: int, team_name: str, now: dt.datetime) -> None:
    """Books as on an earlier day, or some minutes ago; who comes second gets nothing."""
    starts_at = dt.datetime.combine(slot.date, dt.time(slot.hour), tzinfo=LIMA)
    made = min(starts_at - dt.timedelta(days=1 + _draw(slot, "days before") % 5), now - dt.timedelta(minutes=40 + _draw(slot, "minutes")))
    request = BookingRequest(slot.court.sport, slot.date, slot.hour, hours, team_name)
    with suppress(HourTaken):
        booking = book(member=member, court=slot.court, request=request, now=made)
        if _draw(slot, "cancelled") < CANCELLED:
            cancel(booking=booking, by=member, now=made + dt.timedelta(minutes=30))


def _draw(slot: Slot, about: str) -> int:
    """0 to 99, always the same for the same slot and question."""
    return crc32(f"{slot.court.name} {slot.date} {slot.hour} {about}".encode()) % 100
