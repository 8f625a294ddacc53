"""A real web server whose process can be told to die at the worst moment. `python -m bookings.tests.mortal_server`.

Each request is answered by a process of its own, which the header `X-Die` kills (SIGKILL): `before-commit`, when the booking is written
and its transaction open, or `after-commit`, when all is stored and not a byte of the answer has been sent. Prints its port.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterable
from socketserver import ForkingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server


class ForkingServer(ForkingMixIn, WSGIServer):
    request_queue_size = 64


class QuietHandler(WSGIRequestHandler):
    def log_message(self, *words: Any) -> None:
        """Says nothing."""


def die() -> None:
    """Ends this process as a crash of the machine would."""
    os.kill(os.getpid(), signal.SIGKILL)


def mortal(site: Callable[..., Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
    """The site, obeying `X-Die`."""
    from bookings import api, services

    def book_and_die(**asked: Any) -> None:
        services.book(**asked)
        die()

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        moment = environ.get("HTTP_X_DIE")
        if moment == "before-commit":
            vars(api)["book"] = book_and_die
        body = site(environ, start_response)
        if moment == "after-commit":
            die()
        return body

    return answer


def serve() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kallpa.settings")
    from kallpa.wsgi import application

    server = make_server("127.0.0.1", 0, mortal(application), ForkingServer, QuietHandler)
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    serve()
