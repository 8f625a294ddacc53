from django.apps import apps as installed
from django.contrib.auth.management import create_permissions
from django.db import migrations

READERS = ("Ingeniería", "Administración del complejo")


def let_them_read_the_ledger(apps, schema_editor):
    """Who runs the models and who answers for the complex's money. New groups get this when they are made."""
    # Django makes permissions once all migrations have run, which is later than this.
    create_permissions(installed.get_app_config("assistant"), apps=apps, verbosity=0, using=schema_editor.connection.alias)
    Group, Permission = apps.get_model("auth", "Group"), apps.get_model("auth", "Permission")
    for group in Group.objects.filter(name__in=READERS):
        group.permissions.add(Permission.objects.get(content_type__app_label="assistant", codename="view_modelcall"))


class Migration(migrations.Migration):
    dependencies = [
        ("evals", "0009_history_from_here"),
        ("assistant", "0002_model_call"),
        ("bookings", "0003_groups"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]
    operations = [migrations.RunPython(let_them_read_the_ledger, migrations.RunPython.noop)]
