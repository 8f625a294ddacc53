"""What a browser complains of while somebody uses the site, and the traps that a payload would spring."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Page, Request

TRAP = "/trampa"
TELL_VIOLATIONS = """document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy: ${event.effectiveDirective} blocked ${event.blockedURI}`));"""


@dataclass
class Watch:
    """Ears of one browser. `host` is the only one it may ask; `forgiven` are HTTP statuses that a test provokes on purpose."""

    host: str
    forgiven: set[int] = field(default_factory=set)
    complaints: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    trapped: list[str] = field(default_factory=list)

    def listen(self, context: BrowserContext) -> None:
        context.add_init_script(TELL_VIOLATIONS)
        context.on("request", self._hear_request)
        context.on("page", self._listen_to_page)

    def _listen_to_page(self, page: Page) -> None:
        page.on("console", self._hear_console)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("dialog", self._hear_dialog)

    def _hear_console(self, message: ConsoleMessage) -> None:
        is_forgiven = any(f"responded with a status of {status}" in message.text for status in self.forgiven)
        if message.type == "error" and not is_forgiven:
            self.complaints.append(f"console: {message.text}")

    def _hear_request(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme in {"http", "https", "ws", "wss"} and address.netloc != self.host:
            self.complaints.append(f"another host: {request.url}")
        if TRAP in request.url:
            self.trapped.append(request.url)

    def _hear_dialog(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()
