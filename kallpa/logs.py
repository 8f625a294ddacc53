"""Log lines that text from outside cannot forge."""

import logging


class OneLineFormatter(logging.Formatter):
    """Formats a record as one physical line: line breaks inside the text appear as `\\n`."""

    def format(self, record: logging.LogRecord) -> str:
        return super().format(record).replace("\r", "\\r").replace("\n", "\\n")
