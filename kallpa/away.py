"""How a database that is locked, overrun or gone is known, whatever it raises."""

from django.db import InterfaceError, InternalError, OperationalError

IDLE_IN_TRANSACTION = "25P03"  # PostgreSQL ended the session: this process stood still within a transaction for too long


def is_away(error: BaseException) -> bool:
    """Whether the database, and nothing that was asked of it, is what failed: asked again later it may answer."""
    if isinstance(error, InternalError):
        return getattr(error.__cause__, "sqlstate", None) == IDLE_IN_TRANSACTION
    return isinstance(error, OperationalError | InterfaceError)
