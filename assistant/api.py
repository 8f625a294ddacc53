"""The assistant's part of the API, and the door for bookings that notes what became of a proposal."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response

from assistant.limits import LimitReached
from assistant.llm.absent import production_model
from assistant.models import Interaction
from assistant.pages import address_of_day, show_interaction, show_refusal, view_of
from assistant.serializers import (
    AskSerializer,
    AssistedBookingRequestSerializer,
    ProposalSerializer,
    ReportRequestSerializer,
    ReportSerializer,
    read_proposal_id,
)
from assistant.services import AlreadyAnswered, ask_assistant, discard_proposal, record_follow_up, report_interaction
from assistant.wording import tell_limit
from bookings.api import BookingsView, BrowserAnswers, problems
from bookings.clock import now_in_lima
from bookings.models import Booking, Member
from bookings.selectors import find_member
from kallpa.problems import Problem

NO_MEMBER = "Completa los datos de tu cuenta para usar el asistente."
ALREADY_FOLLOWED = "Con esta propuesta ya hiciste una reserva, o no había nada que descartar."
ALREADY_REPORTED = "Ya nos avisaste de esta respuesta. Gracias."


def in_both_forms(serializer: type) -> dict[str, type]:
    """What the schema says of a body that may come as JSON or as a browser's form."""
    return {"application/json": serializer, "application/x-www-form-urlencoded": serializer}


class ProposalsView(BrowserAnswers):
    """Asks the assistant. What it proposes is a form to confirm: nothing is booked here."""

    @extend_schema(
        summary="Pedir una propuesta al asistente",
        request=in_both_forms(AskSerializer),
        responses={201: ProposalSerializer, **problems(400, 403, 413, 415, 429, 503)},
    )
    def post(self, request: Request) -> Response:
        member, asked = _member_of(request), AskSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        try:
            interaction = ask_assistant(member=member, text=asked.validated_data["text"], model=production_model(), now=now_in_lima())
        except LimitReached as error:
            raise Problem(429, "ASSISTANT_LIMIT", detail=tell_limit(error.retry_after_s), retry_after_s=error.retry_after_s) from error
        return Response(ProposalSerializer(interaction).data, status=201)

    def answer_browser(self, request: HttpRequest, response: Response) -> HttpResponseBase:
        if response.status_code == 201:
            return show_interaction(request, Interaction.objects.select_related("member").get(pk=response.data["id"]))
        return _to_log_in(response) or show_refusal(request, response)


class ProposalActionView(BrowserAnswers):
    """Something that a person does with their own proposal. A browser goes back to the day it was looking at."""

    thanks = ""

    def answer_browser(self, request: HttpRequest, response: Response) -> HttpResponseBase:
        if response.status_code < 400:
            messages.success(request, self.thanks)
        else:
            messages.error(request, response.data["detail"])
        return _to_log_in(response) or _see_other(address_of_day(request))


class DiscardView(ProposalActionView):
    thanks = "Descartaste la propuesta. No se reservó nada."

    @extend_schema(summary="Descartar una propuesta", request=None, responses={200: ProposalSerializer, **problems(403, 404, 409)})
    def post(self, request: Request, pk: int) -> Response:
        try:
            interaction = discard_proposal(interaction=_interaction_of(request, pk), now=now_in_lima())
        except AlreadyAnswered as error:
            raise Problem(409, "ALREADY_FOLLOWED", detail=ALREADY_FOLLOWED) from error
        return Response(ProposalSerializer(interaction).data)


class ReportView(ProposalActionView):
    thanks = "Gracias por avisar. Lo vamos a revisar."

    @extend_schema(
        summary="Avisar que esto no es lo que pedí",
        request=in_both_forms(ReportRequestSerializer),
        responses={201: ReportSerializer, **problems(400, 403, 404, 409, 413, 415)},
    )
    def post(self, request: Request, pk: int) -> Response:
        interaction, asked = _interaction_of(request, pk), ReportRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        try:
            report = report_interaction(interaction=interaction, word=asked.validated_data["word"], now=now_in_lima())
        except AlreadyAnswered as error:
            raise Problem(409, "ALREADY_REPORTED", detail=ALREADY_REPORTED) from error
        return Response(ReportSerializer(report).data, status=201)


@extend_schema_view(post=extend_schema(request=in_both_forms(AssistedBookingRequestSerializer)))
class AssistedBookingsView(BookingsView):
    """The same door for bookings. The field `proposal` says which proposal filled the form; it decides nothing."""

    def after_booking(self, request: Request, booking: Booking) -> None:
        proposal_id = read_proposal_id(request.data.get("proposal"))
        if proposal_id is not None:
            record_follow_up(member=booking.member, proposal_id=proposal_id, booking=booking, now=booking.created_at)

    def shown_proposal(self, request: HttpRequest) -> Any:
        proposal_id, member = read_proposal_id(request.POST.get("proposal")), find_member(request.user)
        if proposal_id is None or member is None:
            return None
        interaction = member.interactions.filter(pk=proposal_id).first()
        return view_of(interaction, text=interaction.masked_text) if interaction else None


def _member_of(request: Request) -> Member:
    """Who asks comes from the session alone. Raises Problem for an account without a member."""
    member = find_member(request.user)
    if member is None:
        raise Problem(403, "NO_MEMBER", detail=NO_MEMBER)
    return member


def _interaction_of(request: Request, pk: int) -> Interaction:
    return get_object_or_404(Interaction, pk=pk, member__user_id=request.user.pk)


def _to_log_in(response: Response) -> HttpResponse | None:
    """The way to the login, for a browser whose session is over."""
    if response.status_code == 403 and "NOT_AUTHENTICATED" in response.data["codes"]:
        return _see_other(f"{reverse('log_in')}?next={reverse('day')}")
    return None


def _see_other(address: str) -> HttpResponseRedirect:
    return HttpResponseRedirect(address, status=303)
