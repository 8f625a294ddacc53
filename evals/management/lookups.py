"""What a command's arguments name, or a usage error that says what exists."""

from django.contrib.auth.models import User
from django.core.management.base import CommandError

from evals.models import Dataset
from evals.releases import ExitCode


def find_dataset(slug: str) -> Dataset:
    """The dataset of that slug."""
    dataset = Dataset.objects.filter(slug=slug).first()
    if dataset is None:
        known = ", ".join(Dataset.objects.values_list("slug", flat=True)) or "ninguno (¿falta `manage.py seed_demo`?)"
        raise CommandError(f"No existe el dataset «{slug}». Existen: {known}.", returncode=ExitCode.MISUSED)
    return dataset


def find_user(username: str) -> User:
    """The user of that name; other names are not told."""
    user = User.objects.filter(username=username).first()
    if user is None:
        raise CommandError(f"No existe el usuario «{username}».", returncode=ExitCode.MISUSED)
    return user
