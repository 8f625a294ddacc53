"""The desk keeps courts and members, and takes a court out of use; a reader only looks."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import DjangoAssertNumQueries

from bookings.models import BookedHour, Court, CourtBlock, Member
from bookings.tests.desk import DESK, FOUR_PAGES, READERS, in_days, log_in, make_booking, page

TAKEN = "Hay una reserva o un bloqueo en alguna de esas horas. Cancela la reserva o elige otras horas."


@pytest.fixture
def desk(db: None) -> Client:
    return log_in(DESK)


def block(court: Court, **other: Any) -> dict[str, Any]:
    return {"court": court.pk, "date": in_days(1).isoformat(), "start_hour": "17", "hours": "2", "reason": "Luces"} | other


def test_a_block_takes_its_hours_and_lifting_it_frees_them(desk: Client, court: Court, member: Member) -> None:
    assert desk.post(page("courtblock", "add"), block(court)).status_code == 302
    made = CourtBlock.objects.get()
    assert (made.court, made.date, made.start_hour, made.hours, made.reason) == (court, in_days(1), 17, 2, "Luces")
    assert list(BookedHour.objects.values_list("block", "hour")) == [(made.pk, 17), (made.pk, 18)]
    assert desk.post(page("courtblock", "delete", made.pk), {"post": "yes"}).status_code == 302
    assert make_booking(member=member, court=court, start_hour=17, hours=2).pk


def test_the_action_lifts_several_blocks(desk: Client, court: Court) -> None:
    for hour in ("8", "10"):
        desk.post(page("courtblock", "add"), block(court, start_hour=hour))
    chosen = list(CourtBlock.objects.values_list("pk", flat=True))
    desk.post(page("courtblock"), {"action": "delete_selected", "_selected_action": chosen, "post": "yes"})
    assert (len(chosen), CourtBlock.objects.count(), BookedHour.objects.count()) == (2, 0, 0)


def test_a_block_may_last_all_day(desk: Client, court: Court) -> None:
    desk.post(page("courtblock", "add"), block(court, start_hour="7", hours="15"))
    assert BookedHour.objects.count() == 15


@pytest.mark.parametrize(
    ("change", "errors"),
    [
        ({}, {"start_hour": [TAKEN]}),
        ({"start_hour": "21"}, {"start_hour": ["El complejo abre de 7 a 22 h y la reserva termina a más tardar al cierre."]}),
        ({"date": "2020-01-01"}, {"start_hour": ["Esa hora ya empezó o ya pasó."]}),
        ({"hours": "0"}, {"hours": ["Escoja una opción válida. 0 no es una de las opciones disponibles."]}),
        ({"court": ""}, {"court": ["Este campo es requerido."]}),
    ],
)
def test_what_is_wrong_stands_beside_its_field(
    change: dict[str, str], errors: dict[str, list[str]], desk: Client, court: Court, member: Member
) -> None:
    make_booking(member=member, court=court, start_hour=18)
    response = desk.post(page("courtblock", "add"), block(court) | change)
    assert (response.status_code, dict(response.context["adminform"].form.errors)) == (200, errors)
    assert not CourtBlock.objects.exists()


def test_a_block_is_lifted_and_made_again_never_moved(desk: Client, court: Court) -> None:
    desk.post(page("courtblock", "add"), block(court))
    made = CourtBlock.objects.get()
    assert desk.get(page("courtblock", "change", made.pk)).status_code == 200
    assert desk.post(page("courtblock", "change", made.pk), block(court, start_hour="8")).status_code == 403


def test_a_price_is_written_in_soles(desk: Client, court: Court) -> None:
    address = page("court", "change", court.pk)
    assert 'value="60.5"' in desk.get(address).content.decode()
    desk.post(address, {"name": "Losa 1", "sport": "fulbito", "price": "75.90", "active": "on"})
    court.refresh_from_db()
    assert (court.name, court.price_centimos_per_hour) == ("Losa 1", 7590)


@pytest.mark.parametrize("price", ["-1", "10000.01", "1.234", "gratis", ""])
def test_a_wrong_price_is_said_and_nothing_changes(price: str, desk: Client, court: Court) -> None:
    body = {"name": "Losa 1", "sport": "fulbito", "price": price, "active": "on"}
    response = desk.post(page("court", "change", court.pk), body)
    assert list(response.context["adminform"].form.errors) == ["price"]
    assert Court.objects.get().price_centimos_per_hour == 6050


def test_the_desk_writes_down_a_member_and_hands_out_no_accounts(desk: Client) -> None:
    boss = User.objects.create_superuser("jefa")
    desk.post(page("member", "add"), {"name": "Julio Paredes", "phone": "987654321", "team_name": "", "user": boss.pk})
    assert Member.objects.values_list("name", "user").get() == ("Julio Paredes", None)


def test_a_court_with_bookings_is_not_deleted_even_by_a_superuser(client: Client, court: Court, member: Member) -> None:
    make_booking(member=member, court=court)
    client.force_login(User.objects.create_superuser("jefa"))
    client.post(page("court", "delete", court.pk), {"post": "yes"})
    assert Court.objects.exists()


@pytest.mark.parametrize("model", FOUR_PAGES)
@pytest.mark.parametrize("group", [DESK, READERS])
def test_each_list_opens_and_searches(group: str, model: str, court: Court, member: Member) -> None:
    make_booking(member=member, court=court, team_name='"><img src=x onerror=alert(1)>')
    response = log_in(group).get(page(model), {"q": "quispe"})
    assert response.status_code == 200
    assert b"<img src=x" not in response.content


@pytest.mark.parametrize("model", FOUR_PAGES)
def test_a_reader_sees_each_row_and_changes_nothing(model: str, court: Court, member: Member, desk: Client) -> None:
    booking = make_booking(member=member, court=court)
    desk.post(page("courtblock", "add"), block(court, start_hour="8"))
    row = {"booking": booking, "court": court, "member": member, "courtblock": CourtBlock.objects.get()}[model]
    reader, address = log_in(READERS), page(model, "change", row.pk)
    assert reader.get(address).status_code == 200
    for refused in (address, page(model, "add"), page(model, "delete", row.pk)):
        assert reader.post(refused, {"post": "yes", "name": "otro", "team_name": "otro"}).status_code == 403
    reader.post(page("booking"), {"action": "cancel_bookings", "_selected_action": [booking.pk]})
    booking.refresh_from_db()
    assert booking.status == "confirmed"


@pytest.mark.parametrize("rows", [20, 2000])
@pytest.mark.parametrize("model", ["court", "courtblock", "member"])
def test_a_list_asks_as_much_for_many_rows_as_for_few(
    model: str, rows: int, desk: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    courts = Court.objects.bulk_create(Court(name=f"Losa {n}", sport="voley", price_centimos_per_hour=1) for n in range(rows))
    Member.objects.bulk_create(Member(name=f"Vecina {n}", user=User.objects.create(username=f"vecina-{n}")) for n in range(20))
    made = {"date": in_days(1), "start_hour": 8, "hours": 1, "created_at": "2026-03-09T10:00Z"}
    CourtBlock.objects.bulk_create(CourtBlock(court=court, **made) for court in courts)
    with django_assert_max_num_queries(14):
        assert desk.get(page(model)).status_code == 200
