"""Which commit of the project is being judged."""

import subprocess
from pathlib import Path

DIRTY = "-dirty"


def head_commit(folder: Path) -> str:
    """The full SHA of HEAD; "" outside a git checkout."""
    return _git(folder, "rev-parse", "HEAD") or ""


def current_commit(folder: Path) -> str:
    """What is in the folder: HEAD's SHA, ending in `-dirty` unless git says that tracked files equal it; "" outside a checkout."""
    head = head_commit(folder)
    is_clean = not head or _git(folder, "status", "--porcelain", "--untracked-files=no") == ""
    return head if is_clean else f"{head}{DIRTY}"


def same_commit(asked: str, stored: str) -> bool:
    """True when one is a prefix (7 characters or more) of the other. A dirty tree is no commit at all."""
    shorter, longer = sorted((asked.lower(), stored.lower()), key=len)
    return len(shorter) >= 7 and longer.startswith(shorter) and not longer.endswith(DIRTY)


def _git(folder: Path, *words: str) -> str | None:
    """What git answers; None when it could not."""
    try:
        done = subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True, timeout=10, check=False)  # noqa: S603, S607
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
