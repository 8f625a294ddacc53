"""Engineers and who runs the complex see what models cost; experts, readers and neighbours do not."""

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from evals.management.demo import seed_people

PAGE = "/admin/assistant/modelcall/gasto/"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("group", "status"),
    [("Ingeniería", 200), ("Administración del complejo", 200), ("Expertos de negocio", 403), ("Solo lectura", 403), ("Vecinos", 403)],
)
def test_who_may_see_what_models_cost(client: Client, group: str, status: int) -> None:
    seed_people(with_passwords=False)
    user = User.objects.create_user("alguien", is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    client.force_login(user)
    assert client.get(PAGE).status_code == status
