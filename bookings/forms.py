"""The booking form as people see it. It shows; the API and the services decide."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.forms.utils import ErrorDict

from bookings.rules import CLOSES_AT, MAX_HOURS, MAX_TEAM_NAME, MIN_HOURS, OPENS_AT, SPORT_CHOICES

Errors = Mapping[str, Sequence[str]]


def in_hours(count: int) -> str:
    return f"{count} hora" if count == 1 else f"{count} horas"


class BookingForm(forms.Form):
    """The fields of `POST /api/v1/bookings/`, under the same names. `initial` fills it; `data` and `errors` show a refusal.

    An error whose key is no field (`codes` without a place, `__all__`) stands on top of the form.
    """

    sport = forms.ChoiceField(label="Deporte", choices=SPORT_CHOICES)
    court = forms.ChoiceField(label="Cancha")
    date = forms.ChoiceField(label="Fecha")
    startHour = forms.ChoiceField(  # noqa: N815 -- the API's name
        label="Empieza", choices=[(str(hour), f"{hour}:00") for hour in range(OPENS_AT, CLOSES_AT)]
    )
    hours = forms.ChoiceField(
        label="Cuántas horas",
        widget=forms.RadioSelect,
        choices=[(str(count), in_hours(count)) for count in range(MIN_HOURS, MAX_HOURS + 1)],
    )
    teamName = forms.CharField(label="Nombre del equipo", required=False, max_length=MAX_TEAM_NAME)  # noqa: N815 -- the API's name
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
