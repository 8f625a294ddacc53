"""One answer for one key: a repeated request is answered again, never done again."""

import datetime as dt
import hashlib
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.http import HttpRequest

from kallpa.models import IdempotencyKey
from kallpa.problems import Problem
from kallpa.pruning import key_lifetime

MAX_KEY = 255
NOT_PART_OF_THE_REQUEST = {"idempotencyKey", "csrfmiddlewaretoken"}


class Answer(NamedTuple):
    """An HTTP status and a body of JSON values."""

    status: int
    body: dict[str, Any]


def answer_once(*, user: AbstractBaseUser, key: str, request_hash: str, now: dt.datetime, answer: Callable[[], Answer]) -> Answer:
    """What `answer` returns, or what it returned when `key` was first used; what it raises leaves nothing behind.

    Key, work and answer are committed together: whoever comes at the same time waits for that commit, and whoever comes back after
    the process died finds it done or not begun. An empty key asks for no memory. Raises Problem when the key named another request.
    """
    with transaction.atomic():
        if not key:
            return answer()
        IdempotencyKey.objects.filter(user_id=user.pk, key=key, created_at__lte=now - key_lifetime()).delete()
        row, is_new = IdempotencyKey.objects.get_or_create(
            user_id=user.pk, key=key, defaults={"request_hash": request_hash, "created_at": now}
        )
        if not is_new:
            return _answer_again(row, request_hash)
        given = answer()
        row.status, row.body = given.status, json.dumps(given.body)
        row.save(update_fields=["status", "body"])
        return given


def read_key(request: HttpRequest, body: Any) -> str:
    """The key in the header `Idempotency-Key` or the field `idempotencyKey`, "" without one. Raises Problem if it is no key."""
    key = request.headers.get("Idempotency-Key") or body.get("idempotencyKey") or ""
    if not isinstance(key, str) or len(key) > MAX_KEY or not key.isprintable():
        raise Problem(400, "IDEMPOTENCY_KEY_INVALID")
    return key


def hash_request(method: str, path: str, body: Any) -> str:
    """sha256 of what was asked, whatever the order of its fields."""
    asked = {name: value for name, value in body.items() if name not in NOT_PART_OF_THE_REQUEST}
    return hashlib.sha256(json.dumps([method, path, asked], sort_keys=True).encode()).hexdigest()


def _answer_again(row: IdempotencyKey, request_hash: str) -> Answer:
    if row.request_hash != request_hash:
        raise Problem(409, "IDEMPOTENCY_KEY_REUSED")
    return Answer(row.status, json.loads(row.body))
