"""Accounts: made with name, phone and team; the e-mail address lets one in, and gets a new password when it is forgotten."""

import re
import uuid

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from pytest_django import Settings

from bookings.accounts import EmailTaken, Profile, create_account, read_phone
from bookings.models import Member

pytestmark = pytest.mark.django_db
PASSWORD = "una clave larga 9"
SIGN_UP = {
    "name": "Rosa Quispe",
    "phone": "987 654 321",
    "team_name": "Las Panteras",
    "email": "Rosa@Vecinos.example",
    "password": PASSWORD,
}


@pytest.fixture(autouse=True)
def uncounted(settings: Settings) -> None:
    settings.CACHES = {"default": settings.CACHES["default"] | {"KEY_PREFIX": uuid.uuid4().hex}}


@pytest.fixture
def account() -> User:
    return create_account(email="rosa@vecinos.example", password=PASSWORD, profile=Profile("Rosa Quispe", "987654321", "Las Panteras"))


def who(client: Client) -> str:
    """The login name of the session, "" for nobody."""
    return User.objects.get(pk=client.session["_auth_user_id"]).username if "_auth_user_id" in client.session else ""


def errors_of(html: str) -> dict[str, str]:
    return dict(re.findall(r'<p class="error" id="id_(\w+)_error">(.*?)</p>', html))


def test_signing_up_makes_an_account_its_member_and_a_session(client: Client) -> None:
    response = client.post("/cuenta/crear/", SIGN_UP)
    assert (response.status_code, response["Location"]) == (302, "/")
    member = Member.objects.get()
    assert (member.name, member.phone, member.team_name) == ("Rosa Quispe", "987654321", "Las Panteras")
    assert member.user is not None
    assert (member.user.username, member.user.email, member.user.is_staff) == ("rosa@vecinos.example", "rosa@vecinos.example", False)
    assert [group.name for group in member.user.groups.all()] == ["Vecinos"]
    assert who(client) == "rosa@vecinos.example"
    assert "Tu cuenta está lista, Rosa Quispe." in client.get("/").content.decode()


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("name", "", "Escribe tu nombre y apellido."),
        ("name", "x" * 121, "Aquí caben 120 caracteres; escribiste 121."),
        ("phone", "", "Escribe un celular de nueve números que empiece con 9"),
        ("phone", "12345", "Escribe un celular de nueve números que empiece con 9, por ejemplo 987 654 321."),
        ("email", "rosa", "Escribe tu correo completo, por ejemplo rosa@correo.pe."),
        ("password", "corta1", "demasiado corta"),
        ("password", "73501948265", "completamente numérica"),
        ("password", "rosa@vecinos", "similar"),
        ("team_name", "x" * 41, "Aquí caben 40 caracteres; escribiste 41."),
    ],
)
def test_what_is_wrong_is_said_beside_the_field_and_the_rest_is_kept(client: Client, field: str, value: str, sentence: str) -> None:
    html = client.post("/cuenta/crear/", SIGN_UP | {field: value}).content.decode()
    errors = errors_of(html)
    assert list(errors) == [field]
    assert sentence in errors[field]
    kept = {"name": "Rosa Quispe", "phone": "987 654 321", "team_name": "Las Panteras", "email": "Rosa@Vecinos.example"} | {field: value}
    for name, typed in kept.items():
        assert name == "password" or not typed or f'value="{typed}"' in html
    assert PASSWORD not in html
    assert not User.objects.exists()


def test_one_address_has_one_account_however_it_is_capitalised(client: Client, account: User) -> None:
    html = client.post("/cuenta/crear/", SIGN_UP | {"email": "ROSA@vecinos.EXAMPLE"}).content.decode()
    assert "Ya hay una cuenta con ese correo." in errors_of(html)["email"]
    assert User.objects.count() == Member.objects.count() == 1


def test_the_database_decides_when_two_sign_up_at_once(account: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bookings.accounts.is_taken", lambda name: False)
    with pytest.raises(EmailTaken):
        create_account(email="rosa@vecinos.example", password=PASSWORD, profile=Profile("Otra", "987654322"))
    assert User.objects.count() == Member.objects.count() == 1


def test_signing_up_never_makes_staff(client: Client) -> None:
    client.post("/cuenta/crear/", SIGN_UP | {"is_staff": "1", "is_superuser": "on", "groups": "1", "user": "1", "username": "admin"})
    account = User.objects.get()
    assert (account.username, account.is_staff, account.is_superuser) == ("rosa@vecinos.example", False, False)


def test_who_has_a_session_needs_no_other_account(client: Client, account: User) -> None:
    client.force_login(account)
    assert client.get("/cuenta/crear/")["Location"] == "/"
    client.post("/cuenta/crear/", SIGN_UP | {"email": "otra@vecinos.example"})
    assert User.objects.count() == 1


@pytest.mark.parametrize(
    ("typed", "digits"),
    [
        ("987654321", "987654321"),
        ("987 654 321", "987654321"),
        ("987-654-321", "987654321"),
        ("+51 987 654 321", "987654321"),
        ("51987654321", "987654321"),
        ("(+51) 987.654.321", "987654321"),
        ("887654321", ""),
        ("98765432", ""),
        ("9876543210", ""),
        ("987654321a", ""),
        ("٩٨٧٦٥٤٣٢١", ""),
        ("01 445 6789", ""),
        ("", ""),
    ],
)
def test_a_phone_is_kept_as_nine_digits(typed: str, digits: str) -> None:
    assert read_phone(typed) == digits


@pytest.mark.parametrize("typed", ["rosa@vecinos.example", "ROSA@Vecinos.Example", " rosa@vecinos.example "])
def test_the_address_lets_one_in_however_it_is_typed(client: Client, account: User, typed: str) -> None:
    assert client.post("/cuenta/entrar/", {"username": typed, "password": PASSWORD})["Location"] == "/"
    assert who(client) == "rosa@vecinos.example"


def test_staff_gets_in_by_name(client: Client) -> None:
    User.objects.create_user("Experta", password=PASSWORD, is_staff=True)
    client.post("/cuenta/entrar/", {"username": "Experta", "password": PASSWORD})
    assert who(client) == "Experta"


def test_a_wrong_password_and_an_unknown_address_are_answered_alike(client: Client, account: User) -> None:
    pages = [
        client.post("/cuenta/entrar/", {"username": name, "password": "otra clave"}).content.decode()
        for name in ("rosa@vecinos.example", "nadie@vecinos.example")
    ]
    for html in pages:
        assert "El correo o la contraseña no son correctos." in html
    assert 'value="rosa@vecinos.example"' in pages[0]
    assert who(client) == ""


def test_a_closed_account_stays_out(client: Client, account: User) -> None:
    User.objects.update(is_active=False)
    client.post("/cuenta/entrar/", {"username": "rosa@vecinos.example", "password": PASSWORD})
    assert who(client) == ""


@pytest.mark.parametrize(
    ("wanted", "where"),
    [
        ("/?fecha=2026-03-10&cancha=1&hora=19", "/?fecha=2026-03-10&cancha=1&hora=19"),
        ("https://elsewhere.example/", "/"),
        ("//elsewhere.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
    ],
)
def test_one_goes_on_where_one_was_and_never_elsewhere(client: Client, account: User, wanted: str, where: str) -> None:
    login = {"username": "rosa@vecinos.example", "password": PASSWORD, "next": wanted}
    assert client.post("/cuenta/entrar/", login)["Location"] == where
    assert Client().post("/cuenta/crear/", SIGN_UP | {"email": "b@vecinos.example", "next": wanted})["Location"] == where


def test_a_choice_survives_the_way_through_login_and_sign_up(client: Client) -> None:
    for page in ("/cuenta/entrar/", "/cuenta/crear/"):
        html = client.get(page, {"next": "/?fecha=2026-03-10&hora=19"}).content.decode()
        assert 'name="next" value="/?fecha=2026-03-10&amp;hora=19"' in html


def test_logging_out_takes_a_post(client: Client, account: User) -> None:
    client.force_login(account)
    assert client.get("/cuenta/salir/").status_code == 405
    assert who(client) == "rosa@vecinos.example"
    assert client.post("/cuenta/salir/")["Location"] == "/"
    assert who(client) == ""


@pytest.mark.parametrize("page", ["/cuenta/salir/", "/cuenta/entrar/", "/cuenta/crear/", "/cuenta/datos/", "/cuenta/clave/"])
def test_every_form_needs_its_token(account: User, page: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(account)
    response = client.post(page, SIGN_UP)
    assert response.status_code == 403
    assert "La página venció" in response.content.decode()


def test_one_mends_ones_own_data(client: Client, account: User) -> None:
    other = create_account(email="julio@vecinos.example", password=PASSWORD, profile=Profile("Julio Paredes", "911111111"))
    client.force_login(account)
    assert 'value="Las Panteras"' in client.get("/cuenta/datos/").content.decode()
    response = client.post(
        "/cuenta/datos/", {"name": "Rosa Q.", "phone": "922222222", "team_name": "", "user": other.pk, "id": other.pk}, follow=True
    )
    assert "Guardamos tus datos." in response.content.decode()
    names = {member.user_id: (member.name, member.phone, member.team_name) for member in Member.objects.all()}
    assert names == {account.pk: ("Rosa Q.", "922222222", ""), other.pk: ("Julio Paredes", "911111111", "")}


def test_staff_becomes_a_member_by_saying_who_it_is(client: Client) -> None:
    client.force_login(User.objects.create_superuser("jefa"))
    assert client.get("/mis-reservas/")["Location"] == "/cuenta/datos/"
    client.post("/cuenta/datos/", {"name": "La jefa", "phone": "933333333"})
    assert Member.objects.get().user.username == "jefa"  # type: ignore[union-attr]
    assert client.get("/mis-reservas/").status_code == 200


@pytest.mark.parametrize("page", ["/mis-reservas/", "/cuenta/datos/"])
def test_ones_own_pages_ask_who_one_is(client: Client, page: str) -> None:
    assert client.get(page)["Location"] == f"/cuenta/entrar/?next={page}"


def test_a_mailed_link_gives_a_new_password_once(client: Client, account: User) -> None:
    assert client.post("/cuenta/clave/", {"email": "Rosa@vecinos.example"})["Location"] == "/cuenta/clave/enviada/"
    message = mail.outbox[0]
    assert (message.to, message.subject) == (["rosa@vecinos.example"], "Elige una contraseña nueva en Kallpa")
    link = re.search(r"http://testserver(/cuenta/clave/\S+)", str(message.body))
    assert link is not None
    form = client.get(link[1], follow=True)
    assert "no-store" in form.headers["Cache-Control"]
    page = form.redirect_chain[-1][0]
    refused = client.post(page, {"new_password1": "otra clave larga 7", "new_password2": "distinta"}).content.decode()
    assert "new_password2" in errors_of(refused)
    assert client.post(page, {"new_password1": "otra clave larga 7", "new_password2": "otra clave larga 7"})["Location"] == "/"
    assert who(client) == "rosa@vecinos.example"
    account.refresh_from_db()
    assert account.check_password("otra clave larga 7")
    assert "ya se usó o venció" in Client().get(link[1], follow=True).content.decode()


def test_a_new_password_ends_the_sessions_of_the_old_one(client: Client, account: User) -> None:
    client.force_login(account)
    account.set_password("otra clave larga 7")
    account.save()
    assert client.get("/mis-reservas/").status_code == 302


def test_nobody_learns_which_addresses_have_accounts_by_asking_for_a_link(client: Client, account: User) -> None:
    answers = [
        client.post("/cuenta/clave/", {"email": email}, follow=True).content for email in ("nadie@vecinos.example", "rosa@vecinos.example")
    ]
    assert answers[0] == answers[1]
    assert len(mail.outbox) == 1
