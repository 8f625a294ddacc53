"""The day page as the answer to a request: the box tells what came of it, and a draft fills the form below."""

import datetime as dt
from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib.auth import get_user
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from rest_framework.response import Response

from assistant.drafts import Draft
from assistant.models import Interaction
from assistant.selectors import find_free_court
from assistant.wording import NO_COURT, tell, tell_draft
from bookings.clock import now_in_lima
from bookings.forms import BookingForm
from bookings.models import Court
from bookings.pages import render_day_page


@dataclass(frozen=True, slots=True)
class ProposalView:
    """What the box shows of one request. `text` is there to go on from; without `pk` there is nothing to discard or report."""

    text: str
    kind: str
    message: str
    pk: int | None = None
    words: str = ""
    question: str = ""
    warning: str = ""


def view_of(interaction: Interaction, *, text: str, warning: str = "") -> ProposalView:
    """An outcome as the box shows it, with the words `text` in it."""
    words = tell_draft(Draft.from_json(interaction.draft)) if interaction.draft else ""
    return ProposalView(text, interaction.kind, tell(interaction), interaction.pk, words, interaction.question, warning)


def show_interaction(request: HttpRequest, interaction: Interaction) -> HttpResponse:
    """The day of the draft with its form filled; without a draft, the day that the person was looking at."""
    text = request.POST.get("text", "")
    if interaction.draft is None:
        return render_day_page(request, date=_day_of(request), proposal=view_of(interaction, text=text))
    draft = Draft.from_json(interaction.draft)
    court = find_free_court(draft)
    proposal = view_of(interaction, text=text, warning="" if court else NO_COURT)
    return render_day_page(request, date=draft.date, form=_filled_form(interaction, draft, court), proposal=proposal)


def show_refusal(request: HttpRequest, response: Response) -> HttpResponse:
    """The same page with the words kept, and the sentence of a problem: too often, no such text, a page that expired."""
    request.user = get_user(request)  # the framework forgets who it is when the form's token is stale
    sentences = response.data["errors"].get("text") or [response.data["detail"]]
    proposal = ProposalView(request.POST.get("text", ""), "refused", " ".join(sentences))
    page = render_day_page(request, date=_day_of(request), proposal=proposal, status=response.status_code)
    if "Retry-After" in response.headers:
        page.headers["Retry-After"] = response.headers["Retry-After"]
    return page


def address_of_day(request: HttpRequest) -> str:
    """The page of the day that the person was looking at."""
    return f"{reverse('day')}?{urlencode({'fecha': _day_of(request).isoformat()})}"


def _filled_form(interaction: Interaction, draft: Draft, court: Court | None) -> BookingForm:
    return BookingForm(
        initial={
            "court": court.pk if court else "",
            **draft.as_json(),
            "teamName": interaction.member.team_name if interaction.member else "",
            "proposal": interaction.pk,
        }
    )


def _day_of(request: HttpRequest) -> dt.date:
    """The day in the box's hidden field, today without one."""
    try:
        return dt.date.fromisoformat(request.POST.get("date", ""))
    except ValueError:
        return now_in_lima().date()
