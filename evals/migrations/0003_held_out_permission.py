from django.db import migrations


class Migration(migrations.Migration):
    """Who may read held-out cases. Options only: no table is rebuilt, so the triggers of 0002 stay."""

    dependencies = [("evals", "0002_frozen_rows")]
    operations = [
        migrations.AlterModelOptions(
            name="case",
            options={
                "ordering": ["dataset", "key"],
                "permissions": [("view_held_out_text", "Puede leer los casos reservados")],
                "verbose_name": "caso",
                "verbose_name_plural": "casos",
            },
        ),
    ]
