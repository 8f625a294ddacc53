"""What confirming a draft really does: the booking is made inside a transaction that is always rolled back."""

import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from bookings.models import Booking, Court, Member
from bookings.services import BookingRejected, book
from bookings.values import BookingRequest
from evals.values import CaseSpec, DraftFields, EffectCheck


def check_effect(case: CaseSpec, draft: DraftFields | None, *, now: datetime) -> EffectCheck:
    """Confirms `draft` as the case's session member and compares the rows that appeared with the expected booking.

    The court and the member exist only inside the transaction, so real bookings neither help nor hinder. `now` (aware)
    stands in when the case does not fix its clock. `case.expected` must be a draft.
    """
    if draft is None:
        return EffectCheck(correct=False, detail="No hubo borrador que confirmar.")
    if _lands_on_taken_hour(case, draft):
        return EffectCheck(correct=False, detail="La hora ya estaba tomada.")
    with transaction.atomic():
        check = _confirm(case, draft, now=case.now or now)
        transaction.set_rollback(True)
    return check


def _lands_on_taken_hour(case: CaseSpec, draft: DraftFields) -> bool:
    hours = range(draft.start_hour, draft.start_hour + draft.hours)
    return any((slot.sport, slot.date) == (draft.sport, draft.date) and slot.hour in hours for slot in case.occupied)


def _confirm(case: CaseSpec, draft: DraftFields, *, now: datetime) -> EffectCheck:
    expected = _expected_row(case)
    court = Court.objects.create(name=f"evaluación {secrets.token_hex(8)}", sport=expected["sport"], price_centimos_per_hour=0)
    member = Member.objects.create(name=case.member)
    request = BookingRequest(draft.sport, draft.date, draft.start_hour, draft.hours)
    try:
        book(member=member, court=court, request=request, now=now)
    except BookingRejected as error:
        return EffectCheck(correct=False, detail=f"La reserva se rechazó: {', '.join(error.codes)}.")
    rows = tuple(_row(booking) for booking in court.bookings.select_related("member", "court"))
    detail = "" if rows == (expected,) else f"Se esperaba la reserva {expected} y aparecieron {list(rows)}."
    return EffectCheck(correct=rows == (expected,), rows=rows, detail=detail)


def _expected_row(case: CaseSpec) -> dict[str, Any]:
    draft = case.expected.draft
    return {"member": case.member, **(draft.as_row() if draft else {})}


def _row(booking: Booking) -> Mapping[str, Any]:
    fields = DraftFields(booking.court.sport, booking.date, booking.start_hour, booking.hours)
    return {"member": booking.member.name, **fields.as_row()}
