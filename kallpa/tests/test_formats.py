"""Numbers and dates are written and read as in Peru."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from django import forms
from django.template import Context, Template
from django.utils.formats import number_format


@pytest.mark.parametrize(
    ("template", "value", "shown"),
    [
        ("{{ value }}", 1234567, "1,234,567"),
        ("{{ value }}", Decimal("1234.50"), "1,234.50"),
        ('{{ value|floatformat:"2g" }}', 1234.5, "1,234.50"),
        ("{{ value }}", date(2026, 3, 9), "9 de marzo de 2026"),
        ('{{ value|date:"SHORT_DATE_FORMAT" }}', date(2026, 3, 9), "09/03/2026"),
        ("{{ value }}", datetime(2026, 3, 10, 3, 5, tzinfo=UTC), "9 de marzo de 2026, 22:05"),
        ('{{ value|date:"SHORT_DATETIME_FORMAT" }}', datetime(2026, 3, 10, 3, 5, tzinfo=UTC), "09/03/2026 22:05"),
    ],
)
def test_it_writes_as_in_peru(template: str, value: object, shown: str) -> None:
    assert Template(template).render(Context({"value": value})) == shown


def test_it_writes_soles_with_a_comma_for_thousands_and_a_point_for_centimos() -> None:
    assert number_format(Decimal("1234.50"), 2) == "1,234.50"


@pytest.mark.parametrize("text", ["09/03/2026", "9/3/26", "2026-03-09"])
def test_it_reads_day_before_month_and_what_a_date_input_sends(text: str) -> None:
    assert forms.DateField().clean(text) == date(2026, 3, 9)


def test_it_refuses_a_month_that_does_not_exist() -> None:
    with pytest.raises(forms.ValidationError):
        forms.DateField().clean("03/13/2026")
