"""The booking form as people see it. It shows; the API and the services decide."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.forms.utils import ErrorDict
from django.utils.formats import date_format

from bookings.models import Court
from bookings.money import in_soles
from bookings.rules import CLOSES_AT, MAX_HOURS, MAX_TEAM_NAME, MIN_HOURS, OPENS_AT, SPORT_CHOICES

Errors = Mapping[str, Sequence[str]]
Choice = tuple[str, str]
HOURS = [str(count) for count in range(MIN_HOURS, MAX_HOURS + 1)]


def in_words(date: dt.date) -> str:
    """martes 10 de marzo"""
    return date_format(date, r"l j \d\e F")


def in_hours(count: int) -> str:
    """1 hora, 2 horas"""
    return f"{count} hora" if count == 1 else f"{count} horas"


class BookingForm(forms.Form):
    """The fields of `POST /api/v1/bookings/`, under the same names. `initial` fills it; `data` and `errors` show a refusal.

    A sentence whose key is no field of the form stands on top of it.
    """

    sport = forms.ChoiceField(label="Deporte", choices=[("", "Elige el deporte"), *SPORT_CHOICES])
    court = forms.ChoiceField(label="Cancha")
    date = forms.ChoiceField(label="Fecha")
    startHour = forms.ChoiceField(  # noqa: N815 -- the API's name
        label="Empieza a las",
        choices=[("", "Elige la hora"), *((str(hour), f"{hour}:00") for hour in range(OPENS_AT, CLOSES_AT))],
    )
    hours = forms.ChoiceField(
        label="Cuánto tiempo",
        widget=forms.RadioSelect,
        choices=[(count, in_hours(int(count))) for count in HOURS],
    )
    teamName = forms.CharField(  # noqa: N815 -- the API's name
        label="Nombre del equipo", help_text="Opcional. Lo verán los demás en el horario.", required=False, max_length=MAX_TEAM_NAME
    )
    proposal = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, data: Mapping[str, Any] | None = None, *, errors: Errors | None = None, **options: Any) -> None:
        super().__init__(data, **options)
        self._sentences = errors or {}

    def full_clean(self) -> None:
        """Takes the sentences it was given; whoever refused the booking has already judged the fields."""
        self._errors = ErrorDict()
        for name, sentences in self._sentences.items():
            key = name if name in self.fields else NON_FIELD_ERRORS
            self._errors.setdefault(key, self.error_class(renderer=self.renderer)).extend(sentences)

    def text(self, name: str) -> str:
        """What the form holds in a field, as it would be sent."""
        held = self.data if self.is_bound else self.initial
        return str(held.get(name) or "")

    def asked_hours(self) -> range:
        """The hours that the form asks for; none while it does not say."""
        start, hours = self.text("startHour"), self.text("hours")
        known = start.isascii() and start.isdecimal() and len(start) < 3 and hours in HOURS
        return range(int(start), int(start) + int(hours)) if known else range(0)

    def offer(self, *, courts: Iterable[Court], dates: Iterable[dt.date]) -> None:
        """Sets what can be chosen. A date that was sent stays chosen even when it can no longer be had."""
        court, date = cast(forms.ChoiceField, self.fields["court"]), cast(forms.ChoiceField, self.fields["date"])
        court.choices = [("", "Elige la cancha"), *_by_sport(courts)]
        offered, sent = [(date.isoformat(), in_words(date)) for date in dates], self.text("date")
        date.choices = [*([] if sent in {"", *dict(offered)} else [(sent, _read_date(sent))]), *offered]


def _by_sport(courts: Iterable[Court]) -> list[tuple[str, list[Choice]]]:
    groups: dict[str, list[Choice]] = {}
    for court in courts:
        price = f"{court.name} · {in_soles(court.price_centimos_per_hour)} la hora"
        groups.setdefault(court.get_sport_display(), []).append((str(court.pk), price))
    return list(groups.items())


def _read_date(sent: str) -> str:
    try:
        return in_words(dt.date.fromisoformat(sent))
    except ValueError:
        return sent
