"""In production the site itself serves its static files, under names that change with their content."""

import os
import subprocess
import sys
from pathlib import Path

from django.conf import settings

ASK = """
import django
django.setup()
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command
call_command("collectstatic", "--noinput", verbosity=0)
from django.test import Client
for name in ("kallpa/site.css", "admin/css/base.css"):
    address = staticfiles_storage.url(name)
    response = Client(headers={"host": "kallpa.example"}).get(address, secure=True)
    print(address, response.status_code, response.headers["Content-Type"], response.headers["Cache-Control"])
    print(sorted(set(response.headers) & {"Content-Security-Policy", "Strict-Transport-Security", "X-Content-Type-Options"}))
"""


def test_it_serves_hashed_files_for_ever_with_every_security_header(tmp_path: Path) -> None:
    asked = subprocess.run(
        [sys.executable, "-c", ASK],
        cwd=settings.BASE_DIR,
        env={
            "PATH": os.environ["PATH"],
            "DJANGO_SETTINGS_MODULE": "kallpa.settings",
            "DEBUG": "0",
            "SECRET_KEY": "cl4ve-de-prueba_" * 4,
            "ALLOWED_HOSTS": "kallpa.example",
            "STATIC_ROOT": str(tmp_path),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    site, site_headers, base, base_headers = asked.stdout.splitlines()
    headers = "['Content-Security-Policy', 'Strict-Transport-Security', 'X-Content-Type-Options']"
    assert (site_headers, base_headers) == (headers, headers)
    assert site.startswith("/static/kallpa/site.")
    assert base.startswith("/static/admin/css/base.")
    for line in (site, base):
        assert line.partition(" ")[2] == '200 text/css; charset="utf-8" max-age=315360000, public, immutable'
        assert (tmp_path / line.split()[0].removeprefix("/static/")).is_file()
