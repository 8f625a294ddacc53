"""What a process that a test starts needs, to see the rows of that test, and how to wait for it."""

import time
from collections.abc import Callable
from urllib.parse import quote

from django.db import connection


def address_of_the_test_database() -> str:
    """What DATABASE_URL another process needs to see the rows of this test."""
    here = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{quote(str(here['NAME']))}"
    login = f"{quote(here['USER'])}:{quote(here['PASSWORD'])}" if here["PASSWORD"] else quote(here["USER"])
    return f"postgres://{login}@{here['HOST']}:{here['PORT'] or 5432}/{here['NAME']}"


def wait_until(ready: Callable[[], bool], *, seconds: float = 60) -> None:
    """Polls; fails the test when it takes longer than `seconds`."""
    deadline = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
