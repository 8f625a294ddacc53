"""Tokens from the command line."""

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from kallpa.models import ApiToken
from kallpa.tokens import find_token


@pytest.fixture(autouse=True)
def owner(db: None) -> User:
    return User.objects.create_user("rosa")


def create(capsys: pytest.CaptureFixture[str], *more: str) -> tuple[str, str]:
    """What it printed: the secret (standard output) and what it said about it."""
    call_command("api_token", "create", "editor de Rosa", "--owner", "rosa", "--scope", "mcp", *more)
    printed = capsys.readouterr()
    return printed.out.strip(), printed.err


def test_it_prints_the_secret_alone_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    secret, said = create(capsys, "--scope", "gate", "--days", "7")
    token = find_token(f"Bearer {secret}", scope="gate", now=timezone.now())
    assert token is not None
    assert (token.name, token.owner.get_username(), (token.expires_at - token.created_at).days) == ("editor de Rosa", "rosa", 7)
    assert "no se vuelve a mostrar" in said
    assert secret not in said


def test_the_list_shows_no_secret(capsys: pytest.CaptureFixture[str]) -> None:
    secret, _ = create(capsys)
    call_command("api_token", "list")
    (line,) = capsys.readouterr().out.splitlines()
    token = ApiToken.objects.get()
    assert line.startswith(f"{token.prefix}  editor de Rosa  rosa  mcp; vence el ")
    assert line.endswith("; sin usar")
    assert secret.split("_", 2)[2] not in line
    assert token.digest not in line


def test_it_revokes_by_the_open_part(capsys: pytest.CaptureFixture[str]) -> None:
    secret, _ = create(capsys)
    prefix = ApiToken.objects.get().prefix
    call_command("api_token", "revoke", prefix)
    call_command("api_token", "revoke", prefix)
    call_command("api_token", "list")
    first, second, line = capsys.readouterr().out.splitlines()
    assert first == f"Token editor de Rosa ({prefix}…) revocado."
    assert second == f"El token editor de Rosa ({prefix}…) ya estaba revocado."
    assert "; revocado el " in line
    assert find_token(f"Bearer {secret}", scope="mcp", now=timezone.now()) is None


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["create", "x", "--owner", "nadie", "--scope", "mcp"], "No hay una cuenta activa 'nadie'."),
        (["create", "x", "--owner", "rosa", "--scope", "mcp", "--days", "0"], "--days va de 1 a 365 "),
        (["create", "", "--owner", "rosa", "--scope", "mcp"], "NOMBRE tiene de 1 a 80 caracteres."),
        (["create", "x", "--owner", "rosa", "--scope", "todo"], "todo"),
        (["revoke", "00000000"], "No hay un token que comience con '00000000'"),
    ],
)
def test_it_says_what_is_wrong(arguments: list[str], sentence: str) -> None:
    with pytest.raises(CommandError) as refused:
        call_command("api_token", *arguments)
    assert sentence in str(refused.value)
    assert not ApiToken.objects.exists()
