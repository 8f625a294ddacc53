"""Tokens in the admin: the secret is in one answer, and only who may does anything."""

import datetime as dt
import json
import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from kallpa.models import ApiToken
from kallpa.tokens import create_token, find_token, revoke_token

LIST = reverse("admin:kallpa_apitoken_changelist")
ADD = reverse("admin:kallpa_apitoken_add")
ASKED = {"name": "editor de Rosa", "scopes": ["mcp", "metrics"], "days": "30"}
SECRET = re.compile(r"<code>(kallpa_[\w-]+)</code>")

pytestmark = pytest.mark.django_db


def log_in(*codenames: str) -> Client:
    """A browser of a member of staff with these permissions."""
    person = User.objects.create_user(f"persona {User.objects.count()}", is_staff=True)
    person.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    client = Client()
    client.force_login(person)
    return client


def revoke(client: Client, token: ApiToken) -> int:
    return client.post(LIST, {"action": "revoke", "_selected_action": [token.pk]}).status_code


@pytest.fixture
def token() -> ApiToken:
    owner = User.objects.create_user("rosa")
    return create_token(name="editor", scopes=["mcp"], owner=owner, days=90, now=timezone.now()).row


def test_the_secret_is_shown_once_and_kept_nowhere(capsys: pytest.CaptureFixture[str]) -> None:
    browser = log_in("add_apitoken", "view_apitoken")
    answer = browser.post(ADD, ASKED)
    (secret,) = SECRET.findall(answer.content.decode())
    token = find_token(f"Bearer {secret}", scope="metrics", now=timezone.now())
    assert token is not None
    assert (token.name, token.owner.get_username(), (token.expires_at - token.created_at).days) == ("editor de Rosa", "persona 0", 30)
    assert "no-store" in answer.headers["Cache-Control"]
    pages = [browser.get(page).content.decode() for page in (LIST, ADD, reverse("admin:kallpa_apitoken_change", args=[token.pk]))]
    call_command("dumpdata")
    sessions = [session.get_decoded() for session in Session.objects.all()]
    kept = [*pages, capsys.readouterr().out, json.dumps(sessions), str(browser.cookies), str(LogEntry.objects.values_list())]
    assert [text for text in kept if secret.split("_", 2)[2] in text] == []
    assert [page for page in pages if token.digest in page] == []


def test_a_wrong_form_makes_nothing_and_says_why() -> None:
    answer = log_in("add_apitoken").post(ADD, {"name": "x", "days": "400", "scopes": ["todo"]})
    assert answer.status_code == 200
    assert "Asegúrese de que este valor es menor o igual a 365" in answer.content.decode()
    assert not ApiToken.objects.exists()


def test_a_name_is_shown_as_text() -> None:
    answer = log_in("add_apitoken").post(ADD, {**ASKED, "name": "<script>alert(1)</script>"})
    assert "<script>alert(1)" not in answer.content.decode()


def test_who_may_not_add_makes_none() -> None:
    reader = log_in("view_apitoken", "change_apitoken")
    assert [reader.get(ADD).status_code, reader.post(ADD, ASKED).status_code] == [403, 403]
    assert not ApiToken.objects.exists()


def test_a_token_is_not_changed_nor_deleted(token: ApiToken) -> None:
    manager = log_in("view_apitoken", "add_apitoken", "change_apitoken", "delete_apitoken")
    change, delete = (reverse(f"admin:kallpa_apitoken_{action}", args=[token.pk]) for action in ("change", "delete"))
    assert manager.get(change).status_code == 200
    assert [manager.post(change, {"name": "otro"}).status_code, manager.post(delete, {"post": "yes"}).status_code] == [403, 403]


def test_who_may_revokes(token: ApiToken) -> None:
    assert revoke(log_in("view_apitoken", "change_apitoken"), token) == 302
    token.refresh_from_db()
    assert token.revoked_at is not None
    assert LogEntry.objects.get().change_message == "Revocado."


def test_who_only_reads_does_not_revoke(token: ApiToken) -> None:
    reader = log_in("view_apitoken")
    assert "Revocar" not in reader.get(LIST).content.decode()
    revoke(reader, token)
    token.refresh_from_db()
    assert token.revoked_at is None


@pytest.mark.parametrize(("wanted", "shown"), [("vigente", "uno"), ("vencido", "dos"), ("revocado", "tres")])
def test_the_list_tells_those_that_open_from_the_others(wanted: str, shown: str) -> None:
    owner, now = User.objects.create_user("rosa"), timezone.now()
    create_token(name="uno", scopes=["mcp"], owner=owner, days=90, now=now)
    create_token(name="dos", scopes=["mcp"], owner=owner, days=1, now=now - dt.timedelta(days=2))
    revoke_token(token=create_token(name="tres", scopes=["mcp"], owner=owner, days=90, now=now).row, now=now)
    page = log_in("view_apitoken").get(LIST, {"estado": wanted}).content.decode()
    assert re.findall(r'class="field-state[^"]*">(\w+)<', page) == [wanted]
    assert re.findall(r">(uno|dos|tres)<", page) == [shown]


def test_the_list_costs_the_same_however_long(token: ApiToken, django_assert_max_num_queries) -> None:
    for number in range(30):
        owner = User.objects.create_user(f"otra {number}")
        create_token(name=f"t{number}", scopes=["gate"], owner=owner, days=1, now=timezone.now())
    browser = log_in("view_apitoken")
    with django_assert_max_num_queries(9):
        assert browser.get(LIST).status_code == 200
