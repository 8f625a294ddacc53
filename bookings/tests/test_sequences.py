"""Whatever people book, cancel and block, in whatever order: the rows say what a dictionary of taken hours says."""

import datetime as dt
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from bookings import services
from bookings.clock import LIMA
from bookings.models import BookedHour, Booking, Court, CourtBlock, Member
from bookings.selectors import day_grids, occupied_hours
from bookings.services import BookingRejected, CancelRefused, HourTaken, block_court, book, cancel, unblock_court
from bookings.values import BlockRequest, BookingRequest

MONDAY = dt.date(2026, 3, 9)
DAYS = [MONDAY, MONDAY + dt.timedelta(days=1)]
PEOPLE, COURTS = range(2), range(3)
START = st.sampled_from([18, 19, 20, 17, 18, 19, 20, 21, 9, 7, 6, 22])  # crowded in the evening; some closed
LENGTH = st.sampled_from([1, 2, 3, 1, 2, 3, 0, 4])
MOST_BLOCKS = 2  # in one sequence: it is about bookings
Hour = tuple[int, dt.date, int]


class Complex(RuleBasedStateMachine):
    """Three courts (two of fulbito, one of vóley), two people, two days, and a clock that goes on. The model is a dictionary."""

    held = Bundle("held")
    blocked = Bundle("blocked")

    @initialize()
    def open_the_complex(self) -> None:
        self.transaction = transaction.atomic()
        self.transaction.__enter__()
        sports = ["fulbito", "fulbito", "voley"]
        self.courts = [Court.objects.create(name=f"{n}", sport=s, price_centimos_per_hour=10 + n) for n, s in enumerate(sports)]
        self.people = [Member.objects.create(name=f"{n}") for n in PEOPLE]
        self.now = dt.datetime.combine(MONDAY, dt.time(9, 30), tzinfo=LIMA)
        self.taken: dict[Hour, str] = {}
        self.bookings: dict[int, tuple[int, str, int]] = {}
        self.blocks = 0

    def teardown(self) -> None:
        try:
            self.the_grid_and_the_assistants_list_are_the_model()
        finally:
            transaction.set_rollback(True)
            self.transaction.__exit__(None, None, None)

    def wanted(self, court: int, date: dt.date, start: int, hours: int) -> list[Hour]:
        return [(court, date, hour) for hour in range(start, start + hours)]

    def has_begun(self, date: dt.date, hour: int) -> bool:
        return dt.datetime.combine(date, dt.time(hour), tzinfo=LIMA) <= self.now

    @rule(
        target=held,
        person=st.sampled_from(PEOPLE),
        court=st.sampled_from(COURTS),
        date=st.sampled_from(DAYS),
        start=START,
        hours=LENGTH,
    )
    def books(self, person: int, court: int, date: dt.date, start: int, hours: int) -> Any:
        asked = BookingRequest(self.courts[court].sport, date, start, hours, f"Equipo {person}")
        wanted = self.wanted(court, date, start, hours)
        is_allowed = 1 <= hours <= 3 and start >= 7 and start + hours <= 22 and not self.has_begun(date, start)
        try:
            booking = book(member=self.people[person], court=self.courts[court], request=asked, now=self.now)
        except BookingRejected:
            assert not is_allowed
            return multiple()
        except HourTaken:
            assert is_allowed
            assert self.taken.keys() & set(wanted)
            return multiple()
        assert is_allowed
        assert not self.taken.keys() & set(wanted)
        self.taken |= dict.fromkeys(wanted, f"booking {booking.pk}")
        self.bookings[booking.pk] = (person, "confirmed", hours * (10 + court))
        return booking.pk

    @rule(pk=held, by_owner=st.sampled_from([True, True, True, False]))
    def cancels(self, pk: int, by_owner: bool) -> None:
        booking = Booking.objects.get(pk=pk)
        owner, status, price = self.bookings[pk]
        person = owner if by_owner else 1 - owner
        is_allowed = by_owner and status == "confirmed" and not self.has_begun(booking.date, booking.start_hour)
        try:
            cancel(booking=booking, by=self.people[person], now=self.now)
        except CancelRefused:
            assert not is_allowed
            return
        assert is_allowed
        self.bookings[pk] = (owner, "cancelled", price)
        self.taken = {hour: holder for hour, holder in self.taken.items() if holder != f"booking {pk}"}

    @precondition(lambda self: self.blocks < MOST_BLOCKS)
    @rule(target=blocked, court=st.sampled_from(COURTS), date=st.sampled_from(DAYS), start=START, hours=LENGTH)
    def is_blocked(self, court: int, date: dt.date, start: int, hours: int) -> Any:
        self.blocks += 1
        wanted = self.wanted(court, date, start, hours)
        try:
            block = block_court(court=self.courts[court], request=BlockRequest(date, start, hours), now=self.now)
        except BookingRejected:
            assert hours < 1 or start < 7 or start + hours > 22 or self.has_begun(date, start + hours)
            return multiple()
        except HourTaken:
            assert self.taken.keys() & set(wanted)
            return multiple()
        assert not self.taken.keys() & set(wanted)
        self.taken |= dict.fromkeys(wanted, f"block {block.pk}")
        return block.pk

    @rule(pk=consumes(blocked))
    def is_free_again(self, pk: int) -> None:
        unblock_court(block=CourtBlock.objects.get(pk=pk))
        self.taken = {hour: holder for hour, holder in self.taken.items() if holder != f"block {pk}"}

    @rule(minutes=st.sampled_from([1, 1, 30, 600]))
    def time_goes_by(self, minutes: int) -> None:
        self.now += dt.timedelta(minutes=minutes)

    @invariant()
    def the_rows_are_the_model(self) -> None:
        numbers = {court.pk: number for number, court in enumerate(self.courts)}
        rows = BookedHour.objects.values_list("court", "date", "hour", "booking", "block")
        found = [((numbers[court], date, hour), f"booking {bk}" if bk else f"block {bl}") for court, date, hour, bk, bl in rows]
        assert len(found) == len(dict(found))
        assert dict(found) == self.taken
        bookings = {
            row.pk: (self.people.index(row.member), row.status, row.price_centimos) for row in Booking.objects.select_related("member")
        }
        assert bookings == self.bookings

    def the_grid_and_the_assistants_list_are_the_model(self) -> None:
        numbers = {court.pk: number for number, court in enumerate(self.courts)}
        grids = [(day.court.pk, date, row) for date in DAYS for day in day_grids(date) for row in day.hours]
        assert {(numbers[court], date, row.hour) for court, date, row in grids if row.is_taken} == set(self.taken)
        full = {(hour.date, hour.sport, hour.hour) for hour in occupied_hours(date_from=DAYS[0], date_to=DAYS[-1])}
        every = [(date, hour) for date in DAYS for hour in range(7, 22)]
        fulbito = {(date, "fulbito", hour) for date, hour in every if {(0, date, hour), (1, date, hour)} <= self.taken.keys()}
        assert full == fulbito | {(date, "voley", hour) for date, hour in every if (2, date, hour) in self.taken}


def run_sequences(count: int) -> None:
    """Raises what the model finds, as it was found; the same sequences each time."""
    options = settings(
        max_examples=count,
        phases=[Phase.generate],
        stateful_step_count=15,
        deadline=None,
        derandomize=True,
        database=None,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Complex, settings=options)


@pytest.mark.django_db
@pytest.mark.parametrize("count", [200, pytest.param(10_000, marks=pytest.mark.faults)])
def test_no_sequence_of_bookings_and_cancellations_differs_from_the_model(count: int) -> None:
    run_sequences(count)


@pytest.mark.django_db
def test_control_a_cancellation_that_keeps_its_hours_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def keep_the_hours(*, booking: Booking, by: Member, now: dt.datetime) -> None:
        hours = list(booking.booked_hours.values_list("hour", flat=True))
        services.cancel(booking=booking, by=by, now=now)
        rows = (BookedHour(booking=booking, court=booking.court, date=booking.date, hour=hour) for hour in hours)
        BookedHour.objects.bulk_create(rows)

    monkeypatch.setitem(globals(), "cancel", keep_the_hours)
    with pytest.raises(AssertionError):
        run_sequences(200)
