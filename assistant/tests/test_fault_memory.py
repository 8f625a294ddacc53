"""A process that asks servers which answer without end grows by little: its resident memory is measured, in a process of its own."""

import gzip
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from django.conf import settings

from assistant.tests.loopback_provider import Answer, Call, LoopbackProvider, Reply, Wire
from assistant.tests.provider_faults import FAULTS, JSON_HEAD, raw

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of one process's memory is read from Linux")
MOST_GROWTH_KB = 20_000
MIB = 1_048_576
# Asks a healthy server once, so that everything is loaded, then each of the others three times. Prints by how much the peak grew, and
# the causes. VmHWM, because ru_maxrss would begin at the peak of the process that starts this one.
ASK = """
import sys
from pathlib import Path
from urllib.parse import urlsplit
from assistant.llm import ModelError, ModelRequest
from assistant.llm.provider import ProviderConfig, ProviderModel
from kallpa.outbound import OutboundClient, OutboundPolicy

def ask(base_url):
    policy = OutboundPolicy(frozenset({urlsplit(base_url).netloc}), allow_loopback=True, allow_http=True)
    model = ProviderModel("m", ProviderConfig(base_url, timeout_s=60, max_bytes=int(sys.argv[1])), OutboundClient(policy))
    try:
        return model.complete(ModelRequest(({"role": "user", "content": "hola"},), 0.0, 50)).finish_reason
    except ModelError as error:
        return error.cause

def peak():
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])

ask(sys.argv[2])
before = peak()
causes = [{ask(base_url) for _ in range(3)} for base_url in sys.argv[3:]]
print(peak() - before, *(cause for (cause,) in causes))
"""


def megabyte_of_a_gigabyte(call: Call) -> Reply:
    """Gzip members one after another are one stream to every reader: 1 GiB of spaces in 1 MB."""
    member = gzip.compress(b" " * (16 * MIB), 9)
    return Reply(200, member * 64, (("Content-Type", "application/json"), ("Content-Encoding", "gzip")))


def without_end(wire: Wire) -> None:
    wire.send(JSON_HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    while wire.pause(0):
        wire.send(b"100000\r\n" + b" " * MIB + b"\r\n")


def growth_and_causes(*faults: Answer, max_bytes: int = MIB) -> tuple[int, list[str]]:
    """Kilobytes by which the peak grew over three calls to each server, and the cause that each gave."""
    with ExitStack() as open_servers:
        servers = [open_servers.enter_context(LoopbackProvider(answer)) for answer in (lambda call: "hola", *faults)]
        command = [sys.executable, "-c", ASK, str(max_bytes), *(server.base_url for server in servers)]
        done = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=120, check=True)
    growth, *causes = done.stdout.split()
    return int(growth), causes


def test_great_answers_do_not_make_the_process_grow() -> None:
    great = [FAULTS["50 MB body"].answer, raw(without_end), megabyte_of_a_gigabyte, FAULTS["10,000 headers"].answer]
    growth, causes = growth_and_causes(*great)
    assert causes == ["too-large", "too-large", "bad-response", "bad-response"]
    assert growth < MOST_GROWTH_KB


def test_control_without_the_limit_the_process_grows_with_the_answer() -> None:
    growth, causes = growth_and_causes(FAULTS["50 MB body"].answer, max_bytes=1_000 * MIB)
    assert causes == ["bad-response"]  # it was read to its end: fifty megabytes of spaces are no JSON
    assert growth > 2 * MOST_GROWTH_KB
