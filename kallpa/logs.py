"""Log lines that text from outside cannot forge."""

import logging
import re

# Whatever ends a line or moves a terminal's cursor: C0 and C1 controls but the tab, and the two Unicode line ends.
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")


class OneLineFormatter(logging.Formatter):
    """Formats a record as one physical line: control characters inside the text appear escaped, a line break as `\\n`."""

    def format(self, record: logging.LogRecord) -> str:
        return CONTROL.sub(lambda found: found.group().encode("unicode_escape").decode(), super().format(record))
