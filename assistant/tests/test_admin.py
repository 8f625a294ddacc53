"""The desk reads what happened in production: masked, without names, read-only, with a bound on queries."""

import datetime as dt
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from assistant.models import Interaction, UserReport
from bookings.models import Member

LIST = "/admin/assistant/interaction/"
DRAFT = {"sport": "fulbito", "date": "2026-03-10", "startHour": 19, "hours": 1}


@pytest.fixture
def desk(db: None, client: Client) -> Client:
    client.force_login(User.objects.create_superuser("jefa"))
    return client


def use(member: Member, now: dt.datetime, number: int = 0) -> Interaction:
    facts: dict[str, Any] = {"kind": "draft", "draft": DRAFT} if number % 2 else {"kind": "rejected", "reason": "NOT_JSON"}
    interaction = Interaction.objects.create(
        member=member, created_at=now, masked_text=f"pedido {number} de [NOMBRE]", cost_micro_usd=174, model="gpt-4o-mini", **facts
    )
    if number % 3 == 0:
        UserReport.objects.create(interaction=interaction, word="era <b>vóley</b>", created_at=now)
    return interaction


def test_it_shows_what_happened_and_not_to_whom(desk: Client, member: Member, now: dt.datetime) -> None:
    interaction = use(member, now)
    listed = desk.get(LIST).content.decode()
    opened = desk.get(f"{LIST}{interaction.pk}/change/").content.decode()
    assert "pedido 0 de [NOMBRE]" in listed
    assert "0.000174" in listed
    assert "NOT_JSON" in listed
    assert "era &lt;b&gt;vóley&lt;/b&gt;" in opened
    for page in (listed, opened):
        assert "Rosa" not in page
        assert "987 654 321" not in page
        assert "<b>vóley" not in page


def test_nobody_adds_changes_or_deletes(desk: Client, member: Member, now: dt.datetime) -> None:
    interaction = use(member, now)
    assert desk.get(f"{LIST}add/").status_code == 403
    assert desk.post(f"{LIST}{interaction.pk}/change/", {"masked_text": "otro"}).status_code == 403
    assert desk.post(f"{LIST}{interaction.pk}/delete/", {"post": "yes"}).status_code == 403
    desk.post(LIST, {"action": "delete_selected", "_selected_action": [interaction.pk], "post": "yes"})
    assert Interaction.objects.get().masked_text == "pedido 0 de [NOMBRE]"


@pytest.mark.parametrize("query", ["", "?kind__exact=draft", "?report__isempty=0", "?q=pedido", "?follow_up__exact=none"])
def test_its_lists_answer_each_filter(desk: Client, member: Member, now: dt.datetime, query: str) -> None:
    for number in range(4):
        use(member, now, number)
    assert desk.get(LIST + query).status_code == 200


@pytest.mark.parametrize("rows", [20, 200])
def test_the_list_needs_the_same_queries_for_many_rows(
    desk: Client, member: Member, now: dt.datetime, rows: int, django_assert_max_num_queries: Any
) -> None:
    for number in range(rows):
        use(member, now, number)
    with django_assert_max_num_queries(15):
        desk.get(LIST)
