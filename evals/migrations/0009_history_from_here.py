"""The first line of each history, the permission to approve, and triggers that keep lines of history as they were written."""

from importlib import import_module
from itertools import islice

from django.apps import apps as installed
from django.contrib.auth.management import create_permissions
from django.db import migrations
from django.db.models import F
from django.utils import timezone

frozen = import_module("evals.migrations.0002_frozen_rows")
KEPT = ("Case", "Dataset", "GatePolicy", "ProductThreshold")
TABLES = tuple(f"evals_historical{model.lower()}" for model in KEPT)
MESSAGE = "a line of history is frozen"
BATCH = 500


def write_first_lines(apps, schema_editor):
    """Rows from before have the state they are in now as their first line: an edit will have something to be compared with."""
    for name in KEPT:
        Row, Line = apps.get_model("evals", name), apps.get_model("evals", f"Historical{name}")
        rows = Row.objects.order_by("pk").values(*[field.attname for field in Row._meta.concrete_fields]).iterator(chunk_size=BATCH)
        while lines := [Line(**row, **_first(row)) for row in islice(rows, BATCH)]:
            Line.objects.bulk_create(lines)


def _first(row):
    date = row.get("updated_at") or row.get("created_at") or timezone.now()
    return {"history_type": "+", "history_date": date, "history_change_reason": "Comienzo del historial."}


def trust_what_was_signed(apps, schema_editor):
    """What an owner signed was written by people; of other cases nobody has said so."""
    Case = apps.get_model("evals", "Case")
    signed = Case.objects.filter(revisions__versions__signature__isnull=False).values("pk")
    Case.objects.filter(pk__in=signed).update(answer_written_at=F("updated_at"))


def let_experts_approve(apps, schema_editor):
    """Experts approved until now by choosing a state in the form. New groups get this when they are made."""
    # Django makes permissions once all migrations have run, which is later than this.
    create_permissions(installed.get_app_config("evals"), apps=apps, verbosity=0, using=schema_editor.connection.alias)
    Group, Permission = apps.get_model("auth", "Group"), apps.get_model("auth", "Permission")
    for group in Group.objects.filter(name="Expertos de negocio"):
        group.permissions.add(Permission.objects.get(content_type__app_label="evals", codename="approve_case"))


def install(apps, schema_editor):
    build = {"sqlite": frozen._sqlite, "postgresql": frozen._postgresql}[schema_editor.connection.vendor]
    for table in TABLES:
        for statement in build(table, "UPDATE", "TRUE", MESSAGE):
            schema_editor.execute(statement)


def remove(apps, schema_editor):
    for table in TABLES:
        name = f"frozen_UPDATE_{table}"
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(f"DROP TRIGGER {name} ON {table}")
            schema_editor.execute(f"DROP FUNCTION {name}()")
        else:
            schema_editor.execute(f"DROP TRIGGER {name}")


class Migration(migrations.Migration):
    dependencies = [
        ("evals", "0008_who_changed_what_and_why"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]
    operations = [
        migrations.RunPython(trust_what_was_signed, migrations.RunPython.noop),
        migrations.RunPython(write_first_lines, migrations.RunPython.noop),
        migrations.RunPython(let_experts_approve, migrations.RunPython.noop),
        migrations.RunPython(install, remove),
    ]
