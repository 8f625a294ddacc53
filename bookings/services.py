"""Writes: to book, to cancel, to block a court and to lift the block."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import IntegrityError, transaction

from bookings.clock import in_lima
from bookings.models import BookedHour, Booking, BookingStatus, Court, CourtBlock, Member
from bookings.rules import RULE_MESSAGES, check_block_rules, check_booking_rules
from bookings.values import BlockRequest, BookingRequest

REJECTION_MESSAGES = RULE_MESSAGES | {
    "WRONG_COURT": "En esa cancha se juega otro deporte.",
    "INACTIVE_COURT": "Esa cancha no está disponible por ahora.",
}
CANCEL_MESSAGES = {
    "NOT_YOURS": "Esa reserva es de otra persona.",
    "ALREADY_CANCELLED": "Esa reserva ya estaba cancelada.",
    "ALREADY_BEGUN": "La reserva ya empezó: solo se cancela antes de su hora.",
}


class BookingRejected(Exception):  # noqa: N818 -- an answer of the domain, not a fault
    """The request breaks rules; `codes` are keys of REJECTION_MESSAGES."""

    def __init__(self, codes: list[str]) -> None:
        super().__init__(", ".join(codes))
        self.codes = codes


class HourTaken(Exception):  # noqa: N818 -- an answer of the domain, not a fault
    """Somebody else has one of these hours of that court."""

    def __init__(self, *, court_id: int, date: dt.date, hours: range) -> None:
        super().__init__(f"court {court_id}, {date}, some hour of {hours.start}-{hours.stop}")
        self.court_id, self.date, self.hours = court_id, date, hours


class CancelRefused(Exception):  # noqa: N818 -- an answer of the domain, not a fault
    """The booking cannot be cancelled; `code` is a key of CANCEL_MESSAGES."""

    def __init__(self, code: str, *, booking_id: int) -> None:
        super().__init__(f"{code}: booking {booking_id}")
        self.code, self.booking_id = code, booking_id


def book(*, member: Member, court: Court, request: BookingRequest, now: dt.datetime) -> Booking:
    """A confirmed booking and its hours, all or nothing. Raises BookingRejected or HourTaken; `now` is aware."""
    codes = check_booking_rules(request, now) + _check_court(court, request)
    if codes:
        raise BookingRejected(codes)
    hours = range(request.start_hour, request.start_hour + request.hours)
    with _all_hours_or_none(court, request.date, hours):
        booking = _store_booking(member=member, court=court, request=request, now=now)
        BookedHour.objects.bulk_create(BookedHour(booking=booking, court=court, date=request.date, hour=hour) for hour in hours)
    return booking


def block_court(*, court: Court, request: BlockRequest, now: dt.datetime) -> CourtBlock:
    """Takes the hours of a court out of use, all or nothing. Raises BookingRejected, or HourTaken if somebody plays; `now` is aware."""
    codes = check_block_rules(request, now)
    if codes:
        raise BookingRejected(codes)
    hours = range(request.start_hour, request.start_hour + request.hours)
    with _all_hours_or_none(court, request.date, hours):
        block = CourtBlock.objects.create(
            court=court, date=request.date, start_hour=hours.start, hours=len(hours), reason=request.reason, created_at=now
        )
        BookedHour.objects.bulk_create(BookedHour(block=block, court=court, date=request.date, hour=hour) for hour in hours)
    return block


def unblock_court(*, block: CourtBlock) -> None:
    """Lifts a block and frees its hours."""
    block.delete()


def cancel(*, booking: Booking, by: Member, now: dt.datetime) -> Booking:
    """Cancels until the first hour begins and frees the hours. Raises CancelRefused; `now` is aware."""
    if booking.member_id != by.pk:
        raise CancelRefused("NOT_YOURS", booking_id=booking.pk)
    if in_lima(now) >= booking.starts_at:
        raise CancelRefused("ALREADY_BEGUN", booking_id=booking.pk)
    with transaction.atomic():
        confirmed = Booking.objects.filter(pk=booking.pk, status=BookingStatus.CONFIRMED)
        if not confirmed.update(status=BookingStatus.CANCELLED, cancelled_at=now):
            raise CancelRefused("ALREADY_CANCELLED", booking_id=booking.pk)
        booking.booked_hours.all().delete()
    booking.refresh_from_db()
    return booking


def _check_court(court: Court, request: BookingRequest) -> list[str]:
    broken = {"WRONG_COURT": court.sport != request.sport, "INACTIVE_COURT": not court.active}
    return [code for code, is_broken in broken.items() if is_broken]


def _store_booking(*, member: Member, court: Court, request: BookingRequest, now: dt.datetime) -> Booking:
    return Booking.objects.create(
        court=court,
        member=member,
        date=request.date,
        start_hour=request.start_hour,
        hours=request.hours,
        team_name=request.team_name,
        price_centimos=request.hours * court.price_centimos_per_hour,
        created_at=now,
    )


@contextmanager
def _all_hours_or_none(court: Court, date: dt.date, hours: range) -> Iterator[None]:
    """A transaction in which hours are taken; if somebody has one of them, nothing of it stays. Raises HourTaken."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        if not _is_about_a_taken_hour(error):
            raise
        raise HourTaken(court_id=court.pk, date=date, hours=hours) from error


def _is_about_a_taken_hour(error: IntegrityError) -> bool:
    """PostgreSQL names the constraint; SQLite only lists its columns."""
    diagnostics: Any = getattr(error.__cause__, "diag", None)
    if diagnostics is not None:
        return diagnostics.constraint_name == "one_booking_per_court_date_hour"
    columns = ", ".join(f"{BookedHour._meta.db_table}.{column}" for column in ("court_id", "date", "hour"))
    return str(error) == f"UNIQUE constraint failed: {columns}"
