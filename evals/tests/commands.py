"""A management command as the shell sees it: exit code, standard output, standard error."""

from io import StringIO
from typing import Any, NamedTuple

from django.core.management import call_command
from django.core.management.base import CommandError

from assistant.tests.loopback_provider import LoopbackProvider


class Done(NamedTuple):
    """What a command left behind; `err` ends with the sentence of a CommandError."""

    code: int
    out: str
    err: str


def run_command(*words: str) -> Done:
    """Runs `manage.py WORDS` in this process."""
    out, err = StringIO(), StringIO()
    try:
        call_command(*words, stdout=out, stderr=err)
    except SystemExit as leaving:
        return Done(int(leaving.code or 0), out.getvalue(), err.getvalue())
    except CommandError as error:
        return Done(error.returncode, out.getvalue(), f"{err.getvalue()}{error}")
    return Done(0, out.getvalue(), err.getvalue())


def point_at(settings: Any, provider: LoopbackProvider) -> None:
    """Makes `--model prueba` mean this server."""
    settings.LLM_BASE_URL, settings.LLM_MODEL = provider.base_url, "prueba"
    settings.OUTBOUND_ALLOWED_HOSTS = [provider.host]
    settings.OUTBOUND_ALLOW_LOOPBACK = True
