#!/usr/bin/env python
"""Kallpa's command line: `python manage.py help` lists the commands."""

import os
import sys


def main() -> int:
    """Runs the command; a wrong setting is said in one sentence with exit status 2, never mistaken for a failed evaluation."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kallpa.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as wrong:
        print(wrong, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
