"""A version keeps who froze it. The trigger of its table stays: a column that may be empty is added without a new table."""

from importlib import import_module

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

frozen = import_module("evals.migrations.0002_frozen_rows")
TABLE = "evals_datasetversion"


def install_again(apps, schema_editor):
    """Going back, SQLite makes the table anew and loses its trigger."""
    if schema_editor.connection.vendor == "sqlite":
        for statement in frozen._sqlite(TABLE, "UPDATE", *frozen.FROZEN[TABLE]):
            schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [
        ("evals", "0013_pending_import"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunPython(migrations.RunPython.noop, install_again),
        migrations.AddField(
            model_name="datasetversion",
            name="created_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
                verbose_name="congelada por",
            ),
        ),
    ]
