"""What a command's arguments name, or a usage error that says what exists."""

from django.contrib.auth.models import User
from django.core.management.base import CommandError

from evals.models import Dataset, DatasetVersion
from evals.releases import ExitCode


def find_dataset(slug: str) -> Dataset:
    """The dataset of that slug."""
    dataset = Dataset.objects.filter(slug=slug).first()
    if dataset is None:
        known = ", ".join(Dataset.objects.values_list("slug", flat=True)) or "ninguno (¿falta `manage.py seed_demo`?)"
        raise CommandError(f"No existe el dataset «{slug}». Existen: {known}.", returncode=ExitCode.MISUSED)
    return dataset


def find_version(dataset: Dataset, number: int) -> DatasetVersion:
    """The dataset's version of that number."""
    version = dataset.versions.filter(number=number).first()
    if version is None:
        known = ", ".join(str(each) for each in dataset.versions.values_list("number", flat=True)) or "ninguna"
        raise CommandError(f"{dataset} no tiene la versión {number}. Existen: {known}.", returncode=ExitCode.MISUSED)
    return version


def find_user(username: str) -> User:
    """The user of that name; other names are not told."""
    user = User.objects.filter(username=username).first()
    if user is None:
        raise CommandError(f"No existe el usuario «{username}».", returncode=ExitCode.MISUSED)
    return user
