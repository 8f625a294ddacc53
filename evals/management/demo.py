"""The demo: people, a small complex and the shipped datasets. Each part is made once; what exists is never touched."""

import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from django.contrib.auth.models import Group, Permission, User
from django.db import transaction

from bookings.demo import NEIGHBOUR_EMAIL, seed_complex, seed_neighbour, seed_week
from evals.datasets.rows import parse_rows
from evals.models import Dataset, GatePolicy, ProductThreshold
from evals.services import Change, freeze_version, import_rows, save_edited, sign_version

SEEDS = Path(__file__).parent.parent / "seeds"
EXPERTS, ENGINEERS = "Expertos de negocio", "Ingeniería"

READING = (
    "dataset", "case", "caserevision", "datasetversion", "signature", "recording", "heldoutopening", "run", "result", "scoring", "score",
)  # fmt: skip
APPS = ("assistant", "evals", "kallpa")
PRODUCTION = ("view_interaction", "view_userreport")  # masked before it is stored, and without saying who
GROUPS = {
    EXPERTS: (
        *PRODUCTION,
        *(f"view_{model}" for model in READING),
        *("change_dataset", "add_case", "change_case", "approve_case", "add_recording", "add_datasetversion", "add_signature"),
    ),
    ENGINEERS: (
        *PRODUCTION,
        *(f"view_{model}" for model in READING),
        "view_gatepolicy",
        "view_productthreshold",
        "add_run",
        "view_incident",
        "view_modelcall",
    ),
}


class Login(NamedTuple):
    """A demo account. Its password is a word that everyone knows, so it exists on a laptop only."""

    username: str
    role: str
    group: str = ""

    @property
    def password(self) -> str:
        return f"{self.username.partition('@')[0]}-demo"


STAFF = (Login("admin", "administra todo"), Login("experta", "experta de negocio", EXPERTS), Login("desarrollo", "desarrollo", ENGINEERS))
NEIGHBOUR = Login(NEIGHBOUR_EMAIL, "vecina que reserva")
LOGINS = (*STAFF, NEIGHBOUR)
DATASETS = (
    ("kit", "Kit de prueba", "Catorce casos pequeños para ver funcionar la mesa."),
    ("reservas", "Reservas", "Lo que los vecinos escriben de verdad para pedir una cancha."),
    ("seguridad", "Seguridad", "Ataques de siete familias, cada uno con un pedido honesto que se le parece."),
)
REASON = "Versión de demostración: los casos vienen con el proyecto y cada respuesta correcta se escribió antes que las grabaciones."


@transaction.atomic
def seed_demo(*, with_passwords: bool, now: datetime) -> list[str]:
    """Makes what is missing and says what it made, one sentence each; nothing the second time."""
    made = [*seed_people(with_passwords=with_passwords), *seed_complex(), *_seed_datasets(now)]
    return [*made, *_seed_laptop(now)] if with_passwords else made


def seed_people(*, with_passwords: bool) -> list[str]:
    """The groups and the people in them."""
    return [*_seed_groups(), *_seed_users(with_passwords)]


def _seed_groups() -> Iterable[str]:
    for name, codenames in GROUPS.items():
        group, created = Group.objects.get_or_create(name=name)
        if created:
            group.permissions.set(Permission.objects.filter(content_type__app_label__in=APPS, codename__in=codenames))
            yield f"Grupo «{name}»."


def _seed_users(with_passwords: bool) -> Iterable[str]:
    """Without passwords the two people exist, as owner and author, and nobody can log in; no superuser is made."""
    known = set(User.objects.filter(username__in=[login.username for login in STAFF]).values_list("username", flat=True))
    for login in STAFF:
        if login.username not in known and (with_passwords or login.group):
            _create_user(login, with_password=with_passwords)
            yield f"Usuario «{login.username}» ({login.role})."


def _create_user(login: Login, *, with_password: bool) -> None:
    user = User(username=login.username, is_staff=True, is_superuser=not login.group)
    user.set_password(login.password if with_password else None)
    user.save()
    if login.group:
        user.groups.add(Group.objects.get(name=login.group))


def _seed_laptop(now: datetime) -> Iterable[str]:
    """A neighbour and her week: invented people belong in no real calendar."""
    yield from seed_neighbour(password=NEIGHBOUR.password)
    yield from seed_week(now=now)


def _seed_datasets(now: datetime) -> Iterable[str]:
    known = set(Dataset.objects.values_list("slug", flat=True))
    missing = [dataset for dataset in DATASETS if dataset[0] not in known]
    for slug, name, description in missing:
        owner = User.objects.get(username="experta")
        dataset, change = Dataset(slug=slug, name=name, description=description, owner=owner), Change(owner, now, REASON)
        save_edited(row=dataset, change=change)
        _fill_dataset(dataset, change)
        sign_version(version=freeze_version(dataset=dataset, by=owner), by=owner, reason=REASON, now=now)
        _seed_policy(dataset, change)
        yield f"Dataset «{slug}», versión 1, firmada por {owner}."


def _fill_dataset(dataset: Dataset, change: Change) -> None:
    with (SEEDS / f"{dataset.slug}.jsonl").open("rb") as lines:
        rows, problems = parse_rows(lines)
    if problems:
        raise ValueError(f"{dataset.slug}.jsonl: {problems[0]}")
    import_rows(dataset=dataset, rows=rows, change=change, approved=True)


def _seed_policy(dataset: Dataset, change: Change) -> None:
    policies: dict[str, Any] = json.loads((SEEDS / "policies.json").read_text("utf-8"))
    row = policies[dataset.slug]
    policy = GatePolicy(
        dataset=dataset,
        needs_scripted="scripted" in row["release_kinds"],
        needs_real="real" in row["release_kinds"],
        max_known_limitations=row["max_known_limitations"],
    )
    save_edited(row=policy, change=change)
    for threshold in row["thresholds"]:
        save_edited(row=ProductThreshold(policy=policy, **threshold), change=change)
