"""What a process that a test starts needs, to see the rows of that test."""

from urllib.parse import quote

from django.db import connection


def address_of_the_test_database() -> str:
    """What DATABASE_URL another process needs to see the rows of this test."""
    here = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{quote(str(here['NAME']))}"
    login = f"{quote(here['USER'])}:{quote(here['PASSWORD'])}" if here["PASSWORD"] else quote(here["USER"])
    return f"postgres://{login}@{here['HOST']}:{here['PORT'] or 5432}/{here['NAME']}"
