"""The desk's form and the neighbours' API ask for the same hour at the same moment: one gets it, and nobody sees an error page."""

from collections import Counter
from functools import partial

import pytest
from django.contrib.auth.models import User
from django.test import Client

from bookings.models import BookedHour, Booking, Court, CourtBlock, Member
from bookings.tests.crowd import all_at_once, make_neighbours, post, tomorrow
from bookings.tests.desk import page

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 3


def desk() -> Client:
    """A browser of somebody who may do everything; an error would come back as a 500."""
    client = Client(raise_request_exception=False)
    client.force_login(User.objects.create_superuser(f"jefa-{User.objects.count()}"))
    return client


def at_the_desk(client: Client, model: str, body: dict[str, str]) -> str:
    """What came of a form of the admin: "taken" is the sentence beside the hour."""
    answer = client.post(page(model, "add"), body)
    if answer.status_code == 302:
        return "done"
    assert answer.status_code == 200, answer.content
    assert 'id="id_start_hour_error"' in answer.content.decode()
    return "taken"


def by_api(client: Client, court: Court, hour: int) -> str:
    answer = post(client, {"court": court.pk, "date": tomorrow().isoformat(), "startHour": hour, "hours": 1})
    return {201: "done", 409: "taken"}[answer.status_code]


def test_one_gets_the_hour(court: Court, member: Member) -> None:
    neighbours, bookers, menders = make_neighbours(10), [desk() for _ in range(10)], [desk() for _ in range(5)]
    for hour in range(8, 8 + ROUNDS):
        wanted = {"court": str(court.pk), "date": tomorrow().isoformat(), "start_hour": str(hour), "hours": "1"}
        acts = [
            *(partial(by_api, client, court, hour) for client in neighbours),
            *(partial(at_the_desk, client, "booking", wanted | {"member": str(member.pk), "team_name": ""}) for client in bookers),
            *(partial(at_the_desk, client, "courtblock", wanted | {"reason": "Luces"}) for client in menders),
        ]
        assert Counter(all_at_once(acts)) == {"done": 1, "taken": 24}
    assert Booking.objects.count() + CourtBlock.objects.count() == BookedHour.objects.count() == ROUNDS


def test_control_without_the_constraint_several_get_it(court: Court, member: Member, no_unique_hours: None) -> None:
    wanted = {"court": str(court.pk), "date": tomorrow().isoformat(), "start_hour": "8", "hours": "1"}
    acts = [partial(at_the_desk, desk(), "booking", wanted | {"member": str(member.pk), "team_name": ""}) for _ in range(10)]
    assert Counter(all_at_once(acts)) == {"done": 10}
