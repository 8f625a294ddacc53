import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from assistant.management.commands import assistant_check_outputs

TESTDATA = Path(__file__).parent / "testdata"
REFUSE = '{"action":"refuse"}'


def check(path: Path, now: str = "2026-03-09T10:00") -> tuple[int, list[dict[str, Any]]]:
    out, code = StringIO(), 0
    try:
        call_command("assistant_check_outputs", str(path), now=now, stdout=out)
    except SystemExit as stop:
        code = int(str(stop.code))
    return code, [json.loads(line) for line in out.getvalue().splitlines()]


def write(path: Path, *lines: Any) -> Path:
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return path


def test_it_passes_the_labelled_outputs_and_says_each_share_apart() -> None:
    code, lines = check(TESTDATA / "outputs_shared.jsonl")
    assert (code, len(lines)) == (0, 101)
    assert lines[0] == {"id": "s001-clean-draft", "kind": "draft", "reason": "", "ok": True}
    assert lines[-1] == {"valid_accepted": "21/21", "invalid_rejected": "78/78", "exceptions": 0, "wrong": 0, "wrong_ids": []}


def test_it_fails_when_one_line_differs(tmp_path: Path) -> None:
    lines = [{"id": "a", "text": REFUSE, "expected": "refuse"}, {"id": "b", "text": REFUSE, "expected": "rejected"}]
    code, verdicts = check(write(tmp_path / "f.jsonl", *lines))
    assert (code, [verdict["ok"] for verdict in verdicts[:2]]) == (1, [True, False])
    assert verdicts[-1] == {"valid_accepted": "1/1", "invalid_rejected": "0/1", "exceptions": 0, "wrong": 1, "wrong_ids": ["b"]}


def test_the_clock_decides(tmp_path: Path) -> None:
    text = '{"action":"draft","sport":"voley","date":"2026-03-10","startHour":9,"hours":1}'
    path = write(tmp_path / "f.jsonl", {"id": "a", "text": text, "expected": "draft"})
    assert check(path, "2026-03-10T08:59")[0] == 0
    assert check(path, "2026-03-10T09:00")[0] == 1
    assert check(path, "2026-03-10T13:59Z")[0] == 0


def test_without_expectation_it_only_looks_for_exceptions(tmp_path: Path) -> None:
    code, verdicts = check(write(tmp_path / "f.jsonl", {"text": "hola"}, "", {"id": 7, "text": None, "expected": "either"}))
    assert code == 0
    assert verdicts[:2] == [
        {"id": "1", "kind": "rejected", "reason": "NOT_JSON", "ok": None},
        {"id": "7", "kind": "rejected", "reason": "NOT_TEXT", "ok": True},
    ]


def test_real_outputs_never_raise() -> None:
    code, verdicts = check(TESTDATA / "real_outputs.jsonl")
    assert (code, len(verdicts), verdicts[-1]["exceptions"]) == (0, 84, 0)


def test_a_parser_that_raises_is_counted_and_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(text: str, *, now: object) -> None:
        raise RecursionError

    monkeypatch.setattr(assistant_check_outputs, "parse_output", explode)
    code, verdicts = check(write(tmp_path / "f.jsonl", {"id": "a", "text": REFUSE, "expected": "rejected"}, {"id": "b", "text": REFUSE}))
    assert (code, verdicts[-1]["exceptions"], verdicts[-1]["wrong_ids"]) == (1, 2, ["a", "b"])
    assert verdicts[0] == {"id": "a", "kind": "exception", "reason": "RecursionError", "ok": False}


@pytest.mark.parametrize(
    "bad", ["{", "[1]", '{"id":"x"}', '{"id":"x","text":"","expected":"maybe"}', '{"text":"","expected":["draft"]}', "[" * 100_000]
)
def test_a_bad_line_is_a_mistake_of_use_and_is_named(bad: str, tmp_path: Path) -> None:
    path = write(tmp_path / "f.jsonl", {"id": "a", "text": REFUSE, "expected": "refuse"}, bad)
    with pytest.raises(CommandError, match="línea 2") as error:
        check(path)
    assert error.value.returncode == 2


def test_a_file_that_cannot_be_read_or_is_empty_is_a_mistake_of_use(tmp_path: Path) -> None:
    (tmp_path / "latin.jsonl").write_bytes(b'{"text":"ma\xf1ana"}')
    for path in (tmp_path / "missing.jsonl", tmp_path / "latin.jsonl", write(tmp_path / "empty.jsonl", "", " ")):
        with pytest.raises(CommandError) as error:
            check(path)
        assert error.value.returncode == 2


@pytest.mark.parametrize("now", ["ayer", "2026-13-09T10:00", "10:00"])
def test_a_bad_clock_is_a_mistake_of_use(now: str) -> None:
    with pytest.raises(CommandError, match="2026-03-09T10:00") as error:
        check(TESTDATA / "outputs_shared.jsonl", now)
    assert error.value.returncode == 2
