"""The neighbours' API. `BookingsView` is also where the browser's form goes: there is one door for bookings."""

import datetime as dt
from typing import Any

from django.contrib import messages
from django.contrib.auth import get_user
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from bookings.clock import now_in_lima
from bookings.forms import BookingForm, in_words
from bookings.models import Booking, Court, Member
from bookings.pages import render_day_page
from bookings.rules import check_booking_rules
from bookings.selectors import CourtDay, day_grids, find_member
from bookings.serializers import (
    AvailabilityQuery,
    AvailabilitySerializer,
    BookingRequestSerializer,
    BookingSerializer,
    CourtSerializer,
)
from bookings.services import CANCEL_MESSAGES, REJECTION_MESSAGES, BookingRejected, CancelRefused, HourTaken, book, cancel
from bookings.values import BookingRequest
from kallpa.idempotency import Answer, answer_once, hash_request, read_key
from kallpa.parsers import StrictFormParser, StrictJSONParser
from kallpa.problems import Problem, ProblemSerializer, show_problem

HOUR_TAKEN = "Esa cancha ya está ocupada en alguna de esas horas. Elige otra hora u otra cancha."
NO_MEMBER = "Completa los datos de tu cuenta para poder reservar."
FIELD_OF_CODE = {
    "UNKNOWN_SPORT": "sport",
    "WRONG_COURT": "court",
    "INACTIVE_COURT": "court",
    "OUTSIDE_OPENING_HOURS": "startHour",
    "IN_THE_PAST": "startHour",
    "HOUR_TAKEN": "startHour",
    "TOO_FEW_HOURS": "hours",
    "TOO_MANY_HOURS": "hours",
    "TOO_FAR_AHEAD": "date",
    "TEAM_NAME_TOO_LONG": "teamName",
}


def wants_page(request: HttpRequest) -> bool:
    """Whether a browser's form was sent, by itself or by htmx, and not a program's request."""
    by_htmx = request.headers.get("HX-Request") == "true"
    return request.method == "POST" and (by_htmx or request.get_preferred_type(["application/json", "text/html"]) == "text/html")


def problems(*statuses: int) -> dict[tuple[int, str], type[ProblemSerializer]]:
    """What the schema says of the errors of an operation."""
    return {(status, "application/problem+json"): ProblemSerializer for status in statuses}


class BrowserAnswers(APIView):
    """A view that reads forms as well as JSON, and answers a browser with what `answer_browser` makes of the answer."""

    parser_classes = [StrictJSONParser, StrictFormParser]

    def answer_browser(self, request: HttpRequest, response: Response) -> HttpResponseBase:
        """The page, or the way to it, that says what `response` says to a program."""
        raise NotImplementedError

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        return super().perform_content_negotiation(request, force=force or wants_page(request._request))

    def finalize_response(self, request: Request, response: HttpResponseBase, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if isinstance(response, Response) and wants_page(self.request._request):
            response = self.answer_browser(self.request._request, response)
        return super().finalize_response(request, response, *args, **kwargs)


@extend_schema(summary="Canchas en servicio")
class CourtsView(ListAPIView):
    permission_classes = [AllowAny]
    serializer_class = CourtSerializer
    queryset = Court.objects.filter(active=True)


class AvailabilityView(APIView):
    permission_classes = [AllowAny]

    @extend_schema(
        summary="Horas libres de un día",
        parameters=[AvailabilityQuery],
        responses={200: AvailabilitySerializer, **problems(400)},
    )
    def get(self, request: Request) -> Response:
        query = AvailabilityQuery(data={name: value for name, value in request.query_params.items() if value})
        query.is_valid(raise_exception=True)
        now = now_in_lima()
        date, sport = query.validated_data.get("date", now.date()), query.validated_data.get("sport")
        courts = [_free_hours(day, date, now) for day in day_grids(date) if sport in {None, day.court.sport}]
        return Response(AvailabilitySerializer({"date": date, "courts": courts}).data)


class BookingsView(BrowserAnswers, ListAPIView):
    """The member's own bookings, and the one way to make another."""

    serializer_class = BookingSerializer

    def get_queryset(self) -> QuerySet[Booking]:
        return _bookings_of(self.request)

    def after_booking(self, request: Request, booking: Booking) -> None:
        """Runs in the transaction that booked. For subclasses."""

    def shown_proposal(self, request: HttpRequest) -> Any:
        """The proposal that the page shows again beside a refused form. For subclasses."""
        return None

    @extend_schema(summary="Mis reservas", description="Solo las propias.", responses={200: BookingSerializer(many=True), **problems(403)})
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.list(request, *args, **kwargs)

    @extend_schema(
        summary="Reservar",
        description="Reserva quien tiene la sesión. Una hora ocupada es un 409; una regla que no se cumple, un 422.",
        parameters=[
            OpenApiParameter(
                "Idempotency-Key",
                str,
                OpenApiParameter.HEADER,
                description="De 1 a 255 caracteres. La misma clave con el mismo pedido recibe la misma respuesta.",
            )
        ],
        request={"application/json": BookingRequestSerializer, "application/x-www-form-urlencoded": BookingRequestSerializer},
        responses={201: BookingSerializer, **problems(400, 403, 409, 413, 415, 422, 503)},
    )
    def post(self, request: Request) -> Response:
        member, key = _member_of(request), read_key(request, request.data)
        asked = BookingRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        now = now_in_lima()
        given = answer_once(
            user=request.user,
            key=key,
            request_hash=hash_request("POST", request.path, request.data),
            now=now,
            answer=lambda: self._book(request, member, asked, now),
        )
        if given.status != 201:
            return show_problem(given.body)
        return Response(given.body, status=201, headers={"Location": reverse("api-booking", args=[given.body["id"]])})

    def answer_browser(self, request: HttpRequest, response: Response) -> HttpResponseBase:
        if response.status_code == 201:
            messages.success(request, _success_in_words(response.data))
            return _see_other(reverse("my_bookings"))
        codes = response.data["codes"]
        if "NOT_AUTHENTICATED" in codes:
            return _see_other(f"{reverse('log_in')}?next={reverse('day')}")
        if "NO_MEMBER" in codes:
            return _see_other(reverse("profile"))
        return self._show_form_again(request, response)

    def _book(self, request: Request, member: Member, asked: BookingRequestSerializer, now: dt.datetime) -> Answer:
        try:
            booking = book(member=member, court=asked.validated_data["court"], request=asked.as_request(), now=now)
        except BookingRejected as error:
            raise _rule_problem(error.codes) from error
        except HourTaken:
            return Answer(409, Problem(409, "HOUR_TAKEN", detail=HOUR_TAKEN, errors={"startHour": [HOUR_TAKEN]}).document())
        self.after_booking(request, booking)
        return Answer(201, dict(BookingSerializer(booking).data))

    def _show_form_again(self, request: HttpRequest, response: Response) -> HttpResponse:
        request.user = get_user(request)  # the framework forgets who it is when the form's token is stale
        errors = response.data["errors"] or {"general": [response.data["detail"]]}
        page = render_day_page(
            request,
            date=_read_date(request.POST.get("date", "")) or now_in_lima().date(),
            form=BookingForm(request.POST, errors=errors),
            proposal=self.shown_proposal(request),
            status=response.status_code,
        )
        if "Retry-After" in response.headers:
            page["Retry-After"] = response["Retry-After"]
        return page


@extend_schema(summary="Una de mis reservas", responses={200: BookingSerializer, **problems(403, 404)})
class BookingView(RetrieveAPIView):
    serializer_class = BookingSerializer

    def get_queryset(self) -> QuerySet[Booking]:
        return _bookings_of(self.request)


class CancelBookingView(APIView):
    @extend_schema(
        summary="Cancelar una de mis reservas",
        request=None,
        responses={200: BookingSerializer, **problems(403, 404, 409, 503)},
    )
    def post(self, request: Request, pk: int) -> Response:
        booking = get_object_or_404(_bookings_of(request), pk=pk)
        try:
            cancel(booking=booking, by=_member_of(request), now=now_in_lima())
        except CancelRefused as error:
            raise Problem(409, error.code, detail=CANCEL_MESSAGES[error.code]) from error
        return Response(BookingSerializer(booking).data)


def _bookings_of(request: Request) -> QuerySet[Booking]:
    return Booking.objects.filter(member__user_id=request.user.pk).select_related("court")


def _member_of(request: Request) -> Member:
    """Who books comes from the session alone. Raises Problem for an account without a member."""
    member = find_member(request.user)
    if member is None:
        raise Problem(403, "NO_MEMBER", detail=NO_MEMBER)
    return member


def _rule_problem(codes: list[str]) -> Problem:
    errors: dict[str, list[str]] = {}
    for code in codes:
        errors.setdefault(FIELD_OF_CODE[code], []).append(REJECTION_MESSAGES[code])
    return Problem(422, *codes, detail=" ".join(REJECTION_MESSAGES[code] for code in codes), errors=errors)


def _free_hours(day: CourtDay, date: dt.date, now: dt.datetime) -> dict[str, Any]:
    hours = [{"hour": row.hour, "free": not row.is_taken and _may_begin(day.court.sport, date, row.hour, now)} for row in day.hours]
    return {"id": day.court.pk, "name": day.court.name, "sport": day.court.sport, "hours": hours}


def _may_begin(sport: str, date: dt.date, hour: int, now: dt.datetime) -> bool:
    return not check_booking_rules(BookingRequest(sport, date, hour, 1), now)


def _success_in_words(booking: dict[str, Any]) -> str:
    day = in_words(dt.date.fromisoformat(booking["date"]))
    return f"Listo: reservaste {booking['courtName']} el {day}, de {booking['startHour']}:00 a {booking['endHour']}:00."


def _see_other(address: str) -> HttpResponseRedirect:
    return HttpResponseRedirect(address, status=303)


def _read_date(text: str) -> dt.date | None:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        return None
