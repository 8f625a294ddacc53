"""Tokens that let programs in: shown once, stored as a hash, with scopes, an end and an owner."""

import datetime as dt
import hashlib
import hmac
import re
import secrets
from collections.abc import Collection
from typing import NamedTuple

from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest
from django.utils import timezone

from kallpa.models import ApiToken

RANDOM_BYTES = 32
TOKEN = re.compile(r"kallpa_(?P<prefix>[0-9a-f]{8})_[A-Za-z0-9_-]{43}")  # scanners of leaked secrets know ours by the first word
MAX_NAME = 80
MAX_DAYS = 365
LAST_USE_IS_EXACT_TO = dt.timedelta(minutes=1)  # a write for each request would cost more than the moment is worth


class NewToken(NamedTuple):
    """A stored token and its secret, which nobody can read again."""

    row: ApiToken
    secret: str


def create_token(*, name: str, scopes: Collection[str], owner: AbstractBaseUser, days: int, now: dt.datetime) -> NewToken:
    """A token for `days` days (1 to MAX_DAYS) with a name and these scopes, at least one. Raises ValueError for what is not so."""
    if not scopes or set(scopes) - set(ApiToken.Scope):
        raise ValueError(f"scopes are one or more of {', '.join(ApiToken.Scope)}")
    if not 1 <= days <= MAX_DAYS or not 1 <= len(name) <= MAX_NAME:
        raise ValueError(f"days are 1 to {MAX_DAYS}, a name has 1 to {MAX_NAME} characters")
    prefix = secrets.token_hex(4)
    secret = f"kallpa_{prefix}_{secrets.token_urlsafe(RANDOM_BYTES)}"
    row = ApiToken.objects.create(
        name=name,
        prefix=prefix,
        digest=_digest(secret),
        scopes=sorted(set(scopes)),
        owner_id=owner.pk,
        created_at=now,
        expires_at=now + dt.timedelta(days=days),
    )
    return NewToken(row, secret)


def bearer(request: HttpRequest, *, scope: str) -> ApiToken | None:
    """The token in the header `Authorization: Bearer …`, if it opens `scope` now; a token anywhere else in the request is not seen."""
    return find_token(request.headers.get("Authorization", ""), scope=scope, now=timezone.now())


def find_token(authorization: str, *, scope: str, now: dt.datetime) -> ApiToken | None:
    """The token of this header's value if it is right, not over, not revoked, for `scope`, and its owner's account is active."""
    scheme, _, secret = authorization.partition(" ")
    row = _matching(secret.strip()) if scheme.lower() == "bearer" else None
    if row is None or row.revoked_at or row.expires_at <= now or scope not in row.scopes or not row.owner.is_active:
        return None
    _note_use(row, now)
    return row


def revoke_token(*, token: ApiToken, now: dt.datetime) -> bool:
    """Closes the token from the next request on; False if it was closed before."""
    return bool(ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now))


def _matching(secret: str) -> ApiToken | None:
    """The row is found by its open part; the rest is compared in constant time."""
    token = TOKEN.fullmatch(secret)
    row = ApiToken.objects.select_related("owner").filter(prefix=token["prefix"]).first() if token else None
    return row if row and hmac.compare_digest(row.digest, _digest(secret)) else None


def _digest(secret: str) -> str:
    """No salt and no slow hash: the secret is random, there is nothing to guess."""
    return hashlib.sha256(secret.encode("ascii")).hexdigest()


def _note_use(row: ApiToken, now: dt.datetime) -> None:
    if row.last_used_at is None or row.last_used_at <= now - LAST_USE_IS_EXACT_TO:
        ApiToken.objects.filter(pk=row.pk).update(last_used_at=now)
        row.last_used_at = now
