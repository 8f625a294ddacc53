"""The same Chromium as the assistant's pages are driven with."""

from assistant.tests.browser.conftest import chromium

__all__ = ["chromium"]
