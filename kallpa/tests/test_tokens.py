"""A token opens its scope until it is over, revoked or its owner gone, and nobody can read it again."""

import datetime as dt
import json
import logging
import secrets
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.test import RequestFactory
from django.utils import timezone

from kallpa import tokens
from kallpa.models import ApiToken
from kallpa.tokens import NewToken, bearer, create_token, find_token, revoke_token

NOW = dt.datetime(2026, 3, 9, 15, 0, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)


@pytest.fixture
def owner(db: None) -> User:
    return User.objects.create_user("rosa")


@pytest.fixture
def made(owner: User) -> NewToken:
    return create_token(name="editor", scopes=["mcp"], owner=owner, days=1, now=NOW)


def opens(secret: str, *, scope: str = "mcp", now: dt.datetime = NOW, scheme: str = "Bearer") -> bool:
    return find_token(f"{scheme} {secret}", scope=scope, now=now) is not None


def test_it_opens_its_scope_and_no_other(made: NewToken) -> None:
    assert opens(made.secret)
    assert not opens(made.secret, scope="gate")
    assert not opens(made.secret, scope="")


def test_a_token_may_have_several_scopes(owner: User) -> None:
    made = create_token(name="CI", scopes=["metrics", "gate", "gate"], owner=owner, days=1, now=NOW)
    assert [opens(made.secret, scope=scope) for scope in ApiToken.Scope] == [False, True, True]
    assert made.row.scopes == ["gate", "metrics"]


def test_it_ends_at_the_moment_it_expires(made: NewToken) -> None:
    assert opens(made.secret, now=NOW + DAY - dt.timedelta(microseconds=1))
    assert not opens(made.secret, now=NOW + DAY)


def test_a_revoked_token_is_refused_on_the_next_request(made: NewToken) -> None:
    assert opens(made.secret)
    assert revoke_token(token=made.row, now=NOW)
    assert not opens(made.secret)


def test_revoking_twice_keeps_the_first_moment(made: NewToken) -> None:
    assert revoke_token(token=made.row, now=NOW)
    assert not revoke_token(token=made.row, now=NOW + DAY)
    made.row.refresh_from_db()
    assert made.row.revoked_at == NOW


def test_it_is_closed_while_its_owner_is_not_active(made: NewToken, owner: User) -> None:
    User.objects.update(is_active=False)
    assert not opens(made.secret)
    User.objects.update(is_active=True)
    assert opens(made.secret)


def test_every_other_secret_is_refused(made: NewToken) -> None:
    last = "B" if made.secret.endswith("A") else "A"
    wrong = [
        made.secret[:-1],
        made.secret[:-1] + last,
        made.secret + "A",
        made.secret.upper(),
        f"kallpa_{made.row.prefix}_{'A' * 43}",
        f"kallpa_{'0' * 8}_{made.secret[16:]}",
        made.row.digest,
        made.row.prefix,
        "",
        "\0" * 60,
        "ñ" * 60,
        "kallpa_" + "x" * 100_000,
    ]
    assert not any(opens(secret) for secret in wrong)


def test_control_without_the_comparison_any_secret_with_the_open_part_would_do(made: NewToken, monkeypatch: pytest.MonkeyPatch) -> None:
    forged = f"kallpa_{made.row.prefix}_{'A' * 43}"
    monkeypatch.setattr(tokens.hmac, "compare_digest", lambda stored, shown: True)
    assert opens(forged)


def test_it_counts_only_in_the_header_and_as_a_bearer(owner: User, rf: RequestFactory) -> None:
    secret = create_token(name="editor", scopes=["mcp"], owner=owner, days=1, now=timezone.now()).secret
    headers = [f"Bearer {secret}", f"bearer {secret}", f"Basic {secret}", f"Token {secret}", secret, ""]
    found = [bearer(rf.get("/", headers={"Authorization": header}), scope="mcp") is not None for header in headers]
    assert found == [True, True, False, False, False, False]
    elsewhere = rf.post(f"/?access_token={secret}&token={secret}", {"access_token": secret}, headers={"X-Api-Key": secret})
    elsewhere.COOKIES["token"] = secret
    assert bearer(elsewhere, scope="mcp") is None


def test_it_remembers_the_last_use_to_the_minute(made: NewToken) -> None:
    moments = []
    for seconds in (0, 59, 60, 61):
        opens(made.secret, now=NOW + dt.timedelta(seconds=seconds))
        moments.append(ApiToken.objects.get().last_used_at)
    assert moments == [NOW, NOW, NOW + dt.timedelta(seconds=60), NOW + dt.timedelta(seconds=60)]


def test_a_refused_use_is_no_use(made: NewToken) -> None:
    opens(made.secret, scope="gate")
    assert ApiToken.objects.get().last_used_at is None


@pytest.mark.parametrize(
    "wrong", [{"scopes": []}, {"scopes": ["admin"]}, {"scopes": ["mcp", "x"]}, {"days": 0}, {"days": 366}, {"name": ""}, {"name": "n" * 81}]
)
def test_what_is_no_token_is_not_made(owner: User, wrong: dict[str, Any]) -> None:
    asked: dict[str, Any] = {"name": "editor", "scopes": ["mcp"], "days": 1, **wrong}
    with pytest.raises(ValueError, match=r"scopes|days"):
        create_token(**asked, owner=owner, now=NOW)
    assert not ApiToken.objects.exists()


def test_the_database_refuses_a_token_without_an_end_and_a_second_with_the_same_open_part(made: NewToken, owner: User) -> None:
    row = {"name": "x", "digest": "0" * 64, "scopes": ["mcp"], "owner": owner, "created_at": NOW}
    for wrong in ({"prefix": "00000000", "expires_at": NOW}, {"prefix": made.row.prefix, "expires_at": NOW + DAY}):
        with pytest.raises(IntegrityError), transaction.atomic():
            ApiToken.objects.create(**row, **wrong)


def test_a_secret_holds_256_random_bits(made: NewToken, owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    asked_for: list[int] = []

    def count_bytes(count: int) -> str:
        asked_for.append(count)
        return "A" * 43

    monkeypatch.setattr(tokens.secrets, "token_urlsafe", count_bytes)
    create_token(name="editor", scopes=["mcp"], owner=owner, days=1, now=NOW)
    assert asked_for == [32]
    assert len(made.secret.split("_", 2)[2]) == len(secrets.token_urlsafe(32)) == 43


def test_a_dump_of_the_database_holds_the_hash_and_not_the_secret(made: NewToken) -> None:
    opens(made.secret)
    dump = StringIO()
    call_command("dumpdata", "kallpa", stdout=dump)
    random_part = made.secret.split("_", 2)[2]
    assert len(json.loads(dump.getvalue())[0]["fields"]["digest"]) == 64
    assert made.row.digest in dump.getvalue()
    assert random_part not in dump.getvalue()


def test_no_log_holds_the_secret_at_debug(owner: User, caplog: pytest.LogCaptureFixture, settings, rf: RequestFactory) -> None:
    settings.DEBUG = True  # Django then logs every query with its values
    with caplog.at_level(logging.DEBUG), caplog.at_level(logging.DEBUG, logger="django.db.backends"):
        made = create_token(name="editor", scopes=["mcp"], owner=owner, days=1, now=timezone.now())
        request = rf.get("/", headers={"Authorization": f"Bearer {made.secret}"})
        assert bearer(request, scope="mcp")
        revoke_token(token=made.row, now=timezone.now())
        assert not bearer(request, scope="mcp")
    logged = "\n".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
    assert made.row.prefix in logged  # the queries were logged
    assert made.secret.split("_", 2)[2] not in logged
