from django.apps import apps as installed
from django.contrib.auth.management import create_permissions
from django.db import migrations

READERS = ("Expertos de negocio", "Ingeniería")
CODENAMES = ("view_interaction", "view_userreport")


def let_the_desk_read_production(apps, schema_editor):
    """Experts and engineers learn from production, which is stored masked. New groups get this when they are made."""
    # Django makes permissions once all migrations have run, which is later than this.
    create_permissions(installed.get_app_config("assistant"), apps=apps, verbosity=0, using=schema_editor.connection.alias)
    Group, Permission = apps.get_model("auth", "Group"), apps.get_model("auth", "Permission")
    for group in Group.objects.filter(name__in=READERS):
        group.permissions.add(*Permission.objects.filter(content_type__app_label="assistant", codename__in=CODENAMES))


class Migration(migrations.Migration):
    dependencies = [
        ("evals", "0003_held_out_permission"),
        ("assistant", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]
    operations = [migrations.RunPython(let_the_desk_read_production, migrations.RunPython.noop)]
