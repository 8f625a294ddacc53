"""A process that stood still within a transaction loses its session, and that is said like any lost connection."""

import time
from typing import Any

import pytest
from django.db import DataError, InterfaceError, InternalError, OperationalError, connection, transaction
from django.test import RequestFactory

from kallpa.away import is_away
from kallpa.busy import BusyDatabaseMiddleware
from kallpa.problems import answer_problem


@pytest.mark.parametrize(
    ("error", "away"),
    [(OperationalError(), True), (InterfaceError(), True), (InternalError(), False), (DataError(), False), (OSError(), False)],
)
def test_what_the_database_raises_when_it_is_away(error: Exception, away: bool) -> None:
    assert is_away(error) is away


@pytest.fixture
def postgresql(transactional_db: None) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("needs DATABASE_URL (PostgreSQL)")


def stand_still(seconds: float) -> None:
    """Within a transaction, before the next query of it."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 100")
        time.sleep(seconds)
        cursor.execute("SELECT 1")


@pytest.mark.services
def test_a_session_that_the_server_ended_is_a_database_that_is_away(postgresql: None, settings: Any) -> None:
    with pytest.raises(InternalError) as caught:
        stand_still(1)
    answers = [
        BusyDatabaseMiddleware(lambda request: pytest.fail("not asked")).process_exception(RequestFactory().get("/"), caught.value),
        answer_problem(caught.value, {}),
    ]
    assert [answer and answer.status_code for answer in answers] == [503, 503]
    stand_still(0)  # the next transaction has a session again


@pytest.mark.services
def test_each_session_has_the_limit_of_the_settings(postgresql: None, settings: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT setting::int / 1000 FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout'")
        assert cursor.fetchone() == (settings.DATABASE_IDLE_S,)
