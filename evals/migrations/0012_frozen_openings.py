"""Openings of held-out cases, and the delegates in a line of history, are facts: triggers keep them. The desk's people read openings."""

from importlib import import_module

from django.apps import apps as installed
from django.contrib.auth.management import create_permissions
from django.db import migrations

frozen = import_module("evals.migrations.0002_frozen_rows")
FROZEN = {
    "evals_heldoutopening": "an opening is frozen",
    "evals_historicaldataset_delegates": "a line of history is frozen",
}
READERS = ("Expertos de negocio", "Ingeniería")


def install(apps, schema_editor):
    build = {"sqlite": frozen._sqlite, "postgresql": frozen._postgresql}[schema_editor.connection.vendor]
    for table, message in FROZEN.items():
        for statement in build(table, "UPDATE", "TRUE", message):
            schema_editor.execute(statement)


def remove(apps, schema_editor):
    for table in FROZEN:
        name = f"frozen_UPDATE_{table}"
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(f"DROP TRIGGER {name} ON {table}")
            schema_editor.execute(f"DROP FUNCTION {name}()")
        else:
            schema_editor.execute(f"DROP TRIGGER {name}")


def let_the_desk_read_openings(apps, schema_editor):
    """How often the exam was opened is for everybody who relies on it. New groups get this when they are made."""
    # Django makes permissions once all migrations have run, which is later than this.
    create_permissions(installed.get_app_config("evals"), apps=apps, verbosity=0, using=schema_editor.connection.alias)
    Group, Permission = apps.get_model("auth", "Group"), apps.get_model("auth", "Permission")
    for group in Group.objects.filter(name__in=READERS):
        group.permissions.add(Permission.objects.get(content_type__app_label="evals", codename="view_heldoutopening"))


class Migration(migrations.Migration):
    dependencies = [
        ("evals", "0011_openings_delegates_and_signed_health"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]
    operations = [
        migrations.RunPython(install, remove),
        migrations.RunPython(let_the_desk_read_openings, migrations.RunPython.noop),
    ]
