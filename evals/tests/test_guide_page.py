"""The expert's guide in the admin: the document itself, whole, for those who see datasets."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from django.contrib.auth.models import User
from django.contrib.staticfiles import finders
from django.urls import reverse

from evals.admin import guide
from evals.datasets.spreadsheet import read_cases
from evals.datasets.spreadsheet.columns import COLUMNS, KINDS
from evals.management.demo import seed_people
from evals.words import say_expected

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(client):
    seed_people(with_passwords=False)
    client.force_login(User.objects.get(username="experta"))
    response = client.get(reverse("admin:evals_dataset_guide"))
    assert response.status_code == 200
    return response.content.decode()


def test_experts_find_it_on_the_front_page_of_the_admin(client, page):
    assert reverse("admin:evals_dataset_guide") in client.get(reverse("admin:index")).content.decode()


def test_who_does_not_see_datasets_does_not_see_it(client, django_user_model):
    client.force_login(django_user_model.objects.create_user("recepcion", is_staff=True))
    assert client.get(reverse("admin:evals_dataset_guide")).status_code == 403
    assert reverse("admin:evals_dataset_guide") not in client.get(reverse("admin:index")).content.decode()


def test_its_images_and_its_links_lead_somewhere(page):
    article = page.partition('<article class="guide">')[2]
    images = re.findall(r'<img src="/static/([^"]+)" alt="([^"]+)"', article)
    assert len(images) == len(re.findall("<img", article)) > 5
    assert [name for name, _ in images if finders.find(name) is None] == []
    anchors = re.findall(r'href="#([^"]+)"', article)
    headings = set(re.findall(r'<h2 id="([^"]+)"', article))
    assert len(anchors) > 10
    assert {guide.anchor_of(heading) for heading in ("Quién puede qué", "Corregir, con un motivo")} <= headings
    assert [each for each in anchors if unquote(each) not in headings] == []


def test_it_explains_every_column_and_every_kind_of_answer(page):
    first_cells = set(re.findall(r"<tr>\s*<td>([^<]+)</td>", page))
    assert [column for column in COLUMNS if column not in first_cells] == []
    assert [kind for kind in KINDS.values() if kind not in first_cells] == []


def test_what_looks_like_markup_is_text(tmp_path):
    file = tmp_path / "guia.md"
    file.write_text("# Título\n\n## Uno & dos\n\n<script>alert(1)</script> [x](javascript:alert(1)) ![foto](../../etc/a.png)\n", "utf-8")
    drawn = guide.draw_guide(file)
    assert "<script" not in drawn
    assert "href" not in drawn
    assert "Título" not in drawn
    assert '<h2 id="uno--dos">' in drawn
    assert 'src="/static/guia/a.png"' in drawn


def test_where_the_documents_were_not_deployed_it_is_a_404(client, page, monkeypatch):
    monkeypatch.setattr(guide, "GUIDE", Path("no-esta.md"))
    assert client.get(reverse("admin:evals_dataset_guide")).status_code == 404


def test_the_examples_of_its_first_columns_are_a_row_that_imports():
    tables = guide.GUIDE.read_text("utf-8").split("| Columna | Qué va | Ejemplo |\n|---|---|---|\n")
    cells = [[cell.strip(" `") for cell in line.strip("|").split(" | ")] for line in tables[1].split("\n\n")[0].splitlines()]
    example = {column: text.partition(" o ")[0] for column, _, text in cells}
    assert len(example) == 16
    sheet = "\n".join(",".join(f'"{cell}"' for cell in row) for row in (example, example.values()))
    read = read_cases(sheet.encode(), name="planilla.csv")
    assert read.problems == []
    (row,) = read.rows
    assert (row.spec.key, row.spec.text) == ("manana-a-las-siete", "una canchita mañana a las 7 de la noche xfa")
    assert say_expected(row.spec.expected) == "Fulbito, martes 10/03, de 19 a 20 h"
    assert row.spec.tags == ("jerga", "fin-de-semana")
