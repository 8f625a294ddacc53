"""Accounts of neighbours. The e-mail address is the login name; an account and its member are made together."""

import re
from dataclasses import dataclass

from django.contrib.auth.models import Group, User
from django.db import IntegrityError, transaction
from django.db.models import Q

from bookings.models import Member

NEIGHBOURS = "Vecinos"
MAX_EMAIL = 150  # what a login name of Django holds
MOBILE = re.compile(r"(?:\+?51)?(9[0-9]{8})")


class EmailTaken(Exception):  # noqa: N818 -- an answer of the domain, not a fault
    """Somebody has an account with this address."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What a member says about themselves; `phone` as `read_phone` gives it."""

    name: str
    phone: str
    team_name: str = ""


def read_login_name(text: str) -> str:
    """An e-mail address is the same however it is capitalised; other names of staff are left alone."""
    return text.lower() if "@" in text else text


def read_phone(text: str) -> str:
    """The nine digits of a Peruvian mobile number, or "" if it is none."""
    found = MOBILE.fullmatch(re.sub(r"[\s().-]", "", text))
    return found.group(1) if found else ""


def is_taken(email: str) -> bool:
    """Whether somebody gets in, or is written to, at this address."""
    return User.objects.filter(Q(username=email) | Q(email__iexact=email)).exists()


def create_account(*, email: str, password: str, profile: Profile) -> User:
    """An account in the neighbours' group and its member, all or nothing. Raises EmailTaken."""
    name = read_login_name(email)
    if is_taken(name):
        raise EmailTaken
    with transaction.atomic():
        try:
            with transaction.atomic():
                account = User.objects.create_user(name, email=name, password=password)
        except IntegrityError as error:  # two people, or two taps, at the same moment
            raise EmailTaken from error
        account.groups.add(Group.objects.get_or_create(name=NEIGHBOURS)[0])
        save_profile(account=account, profile=profile)
    return account


def save_profile(*, account: User, profile: Profile) -> Member:
    """Writes down who the account belongs to; staff that never booked gets its member here."""
    values = {"name": profile.name, "phone": profile.phone, "team_name": profile.team_name}
    member, _ = Member.objects.update_or_create(user=account, defaults=values)
    return member
