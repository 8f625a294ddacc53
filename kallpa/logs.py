"""Log lines that text from outside cannot forge, and that quote no row of the database."""

import logging
import re
from collections.abc import Iterator

from django.db import Error

# Whatever ends a line or moves a terminal's cursor: C0 and C1 controls but the tab, and the two Unicode line ends.
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")


class OneLineFormatter(logging.Formatter):
    """Formats a record as one physical line: control characters inside the text appear escaped, a line break as `\\n`."""

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        for error in _database_errors(record.exc_info[1] if record.exc_info else None):
            text = text.replace(error, error.partition("\n")[0])
        return CONTROL.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


def _database_errors(error: BaseException | None) -> Iterator[str]:
    """The words of the database's errors in the chain. PostgreSQL puts the values of a whole row below the first line."""
    while error is not None:
        if isinstance(error, Error):
            yield str(error)
        error = error.__cause__ or error.__context__
