"""What fails every browser test: controls that show that each complaint is heard."""

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route

from assistant.tests.browser.watching import TRAP, Watch
from kallpa.csp import POLICY

pytestmark = pytest.mark.browser

BAD = f"<p>hola</p><script>fetch('{TRAP}'); alert(1)</script><img src=https://otro.example/x.png>"


@pytest.fixture
def ear(chromium: Browser, home: str) -> Watch:
    return Watch(urlsplit(home).netloc)


def open_bad_page(chromium: Browser, home: str, ear: Watch, **headers: str) -> Page:
    """A page at the site's own address that runs a script and looks elsewhere."""
    context = chromium.new_context(base_url=home)
    ear.listen(context)

    def serve(route: Route) -> None:
        route.fulfill(body=BAD, content_type="text/html", headers=headers)

    context.route("**/mala/", serve)
    page = context.new_page()
    page.goto("/mala/")
    page.wait_for_load_state("networkidle")
    context.close()
    return page


def test_a_script_that_runs_springs_the_traps(chromium: Browser, home: str, ear: Watch) -> None:
    open_bad_page(chromium, home, ear)
    assert ear.dialogs == ["1"]
    assert [urlsplit(address).path for address in ear.trapped] == [TRAP]
    assert "another host: https://otro.example/x.png" in ear.complaints


def test_a_violation_of_the_policy_is_a_complaint(chromium: Browser, home: str, ear: Watch) -> None:
    open_bad_page(chromium, home, ear, **{"Content-Security-Policy": POLICY})
    assert (ear.dialogs, ear.trapped) == ([], [])
    assert any(line.startswith("console: policy: script-src") for line in ear.complaints)
