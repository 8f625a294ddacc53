"""The page of spending in a browser: sums for the days asked for, a model's name that stays text, a file, nothing that sticks out."""

from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Page, expect

from assistant.models import ModelCall
from assistant.tests.browser.test_layout import check_layout
from assistant.tests.browser.watching import TRAP
from assistant.tests.test_spending_page import call

pytestmark = pytest.mark.browser
HOSTILE = f'"><img src={TRAP} onerror=alert(1)>'
LONG = "modelo-de-nombre-largo-" * 8


@pytest.fixture
def staff(page: Page) -> Page:
    client = Client()
    client.force_login(User.objects.create_superuser("jefa"))
    name = settings.SESSION_COOKIE_NAME
    page.context.add_cookies([{"name": name, "value": client.cookies[name].value, "domain": "localhost", "path": "/"}])
    return page


def test_staff_go_from_the_index_to_the_sums_and_the_file(staff: Page) -> None:
    rows = [call(timezone.now(), model=model, price_known=False, cost_micro_usd=10**12) for model in (HOSTILE, LONG)]
    ModelCall.objects.bulk_create([*rows, call(timezone.now())])
    staff.goto("/admin/")
    staff.get_by_role("link", name="Gasto en modelos").click()
    expect(staff.get_by_text("USD 2,000,000.00 del")).to_be_visible()
    expect(staff.get_by_role("rowheader", name=HOSTILE)).to_have_count(2)  # among the models, and beside the estimate
    check_layout(staff)
    with staff.expect_download() as downloaded:
        staff.get_by_role("link", name="Descargar CSV").click()
    assert len(Path(downloaded.value.path()).read_text("utf-8-sig").splitlines()) == 4
    staff.get_by_label("Desde").fill("2020-01-01")
    staff.get_by_label("Hasta").fill("2020-01-31")
    staff.get_by_role("button", name="Ver").click()
    expect(staff.get_by_text("no se llamó a ningún proveedor")).to_be_visible()
    staff.get_by_label("Hasta").fill("2026-01-31")
    staff.get_by_role("button", name="Ver").click()
    expect(staff.get_by_text("entre los dos caben hasta 366 días")).to_be_visible()
    check_layout(staff)
