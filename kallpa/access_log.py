"""gunicorn's access log without what people type into a search box, and without links that let somebody in."""

import re
from typing import Any

from gunicorn.glogging import Logger

RESET_LINK = re.compile(r"(/cuenta/clave/)[^/]+/[^/]+(?=/)")


def without_secrets(address: str) -> str:
    """The address up to its question mark; who chooses a new password, and with which token, is left out."""
    return RESET_LINK.sub(r"\1…", address.partition("?")[0])


class PathLogger(Logger):
    """Logs a request by its path. The front desk finds a member by telephone: the number stands in the address, and in the next Referer."""

    def atoms(self, resp: Any, req: Any, environ: dict[str, Any], request_time: Any) -> dict[str, Any]:
        """What a log format may name: request line, path and referer without secrets, and no query."""
        atoms: dict[str, Any] = super().atoms(resp, req, environ, request_time)
        path, referer = without_secrets(environ["RAW_URI"]), without_secrets(atoms["f"])
        line = f"{environ['REQUEST_METHOD']} {path} {environ['SERVER_PROTOCOL']}"
        return atoms | {"r": line, "U": without_secrets(environ["PATH_INFO"]), "q": "", "f": referer, "{referer}i": referer}
