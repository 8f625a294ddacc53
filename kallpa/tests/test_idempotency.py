"""One key, one answer, for a day."""

import datetime as dt
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.test import RequestFactory
from django.utils import timezone

from kallpa.celery import app
from kallpa.idempotency import Answer, answer_once, hash_request, read_key
from kallpa.models import IdempotencyKey
from kallpa.problems import Problem
from kallpa.pruning import prune_keys

NOW = dt.datetime(2026, 3, 9, 15, 0, tzinfo=dt.UTC)
DAY = dt.timedelta(hours=24)


class Work:
    """Counts how often it is done; each time it answers otherwise."""

    def __init__(self, status: int = 201) -> None:
        self.status, self.done = status, 0

    def __call__(self) -> Answer:
        self.done += 1
        return Answer(self.status, {"z": self.done, "a": "año"})


@pytest.fixture
def user(db: None) -> AbstractBaseUser:
    return get_user_model().objects.create_user("rosa")


def ask(user: AbstractBaseUser, work: Any, *, key: str = "k1", request_hash: str = "h1", now: dt.datetime = NOW) -> Answer:
    return answer_once(user=user, key=key, request_hash=request_hash, now=now, answer=work)


@pytest.mark.parametrize("status", [201, 409])
def test_the_second_time_it_gives_the_first_answer(user: AbstractBaseUser, status: int) -> None:
    work = Work(status)
    first = ask(user, work)
    assert first == ask(user, work) == ask(user, work, now=NOW + DAY - dt.timedelta(seconds=1)) == (status, {"z": 1, "a": "año"})
    assert list(ask(user, work).body) == ["z", "a"]
    assert work.done == 1


def test_the_same_key_for_another_request_is_refused(user: AbstractBaseUser) -> None:
    work = Work()
    ask(user, work)
    with pytest.raises(Problem) as refused:
        ask(user, work, request_hash="h2")
    assert (refused.value.status_code, refused.value.codes) == (409, ["IDEMPOTENCY_KEY_REUSED"])
    assert work.done == 1


def test_a_key_belongs_to_one_person(user: AbstractBaseUser) -> None:
    other = get_user_model().objects.create_user("julio")
    work = Work()
    assert ask(user, work) != ask(other, work, request_hash="h2")
    assert work.done == 2


def test_without_a_key_each_request_is_its_own(user: AbstractBaseUser) -> None:
    work = Work()
    ask(user, work, key="")
    ask(user, work, key="")
    assert (work.done, IdempotencyKey.objects.count()) == (2, 0)


def test_what_raises_leaves_neither_key_nor_work(user: AbstractBaseUser) -> None:
    def fail() -> Answer:
        get_user_model().objects.create_user("a-medias")
        raise Problem(422, "INVALID")

    with pytest.raises(Problem):
        ask(user, fail)
    assert not IdempotencyKey.objects.exists()
    assert get_user_model().objects.count() == 1
    assert ask(user, Work()).status == 201


def test_after_a_day_the_key_is_new(user: AbstractBaseUser) -> None:
    work = Work()
    ask(user, work)
    assert ask(user, work, request_hash="h2", now=NOW + DAY).body["z"] == 2


def test_only_keys_whose_day_is_over_are_deleted(user: AbstractBaseUser) -> None:
    ask(user, Work(), key="old", now=NOW - DAY)
    ask(user, Work(), key="young", now=NOW - DAY + dt.timedelta(seconds=1))
    assert prune_keys(now=NOW) == 1
    assert [row.key for row in IdempotencyKey.objects.all()] == ["young"]


def test_the_command_deletes_them_and_says_how_many(user: AbstractBaseUser, capsys: pytest.CaptureFixture[str]) -> None:
    ask(user, Work(), key="old", now=timezone.now() - DAY)
    ask(user, Work(), key="young", now=timezone.now())
    call_command("prune")
    assert capsys.readouterr().out == "Claves de idempotencia borradas: 1.\n"
    assert [row.key for row in IdempotencyKey.objects.all()] == ["young"]


def test_the_database_keeps_one_row_per_person_and_key(user: AbstractBaseUser) -> None:
    ask(user, Work())
    with pytest.raises(IntegrityError), transaction.atomic():
        IdempotencyKey.objects.create(user_id=user.pk, key="k1", request_hash="h2", created_at=NOW)


def test_the_key_stands_in_the_header_or_in_the_field(rf: RequestFactory) -> None:
    assert read_key(rf.post("/", headers={"Idempotency-Key": "k1"}), {"idempotencyKey": "k2"}) == "k1"
    assert read_key(rf.post("/"), {"idempotencyKey": "k2"}) == "k2"
    assert read_key(rf.post("/"), {}) == ""
    assert read_key(rf.post("/"), {"idempotencyKey": "k" * 255}) == "k" * 255


@pytest.mark.parametrize("wrong", ["k" * 256, "a\0b", "a\nb", "\ud800", 7, ["k1"], {"k": 1}])
def test_what_no_column_holds_is_no_key(rf: RequestFactory, wrong: Any) -> None:
    with pytest.raises(Problem) as refused:
        read_key(rf.post("/"), {"idempotencyKey": wrong})
    assert (refused.value.status_code, refused.value.codes) == (400, ["IDEMPOTENCY_KEY_INVALID"])


def test_the_hash_is_of_what_was_asked() -> None:
    asked = hash_request("POST", "/a", {"hours": 1, "court": 2})
    assert len(asked) == 64
    assert asked == hash_request("POST", "/a", {"court": 2, "hours": 1, "csrfmiddlewaretoken": "x", "idempotencyKey": "k"})
    others = [("PUT", "/a", {"hours": 1, "court": 2}), ("POST", "/b", {"hours": 1, "court": 2}), ("POST", "/a", {"hours": 2, "court": 2})]
    assert asked not in {hash_request(*other) for other in others}


def test_beat_deletes_them_every_hour(user: AbstractBaseUser) -> None:
    ask(user, Work(), now=timezone.now() - DAY)
    schedule = app.conf.beat_schedule["prune"]
    app.loader.import_default_modules()
    app.tasks[schedule["task"]]()
    assert not IdempotencyKey.objects.exists()
    assert schedule["schedule"] <= 3600
