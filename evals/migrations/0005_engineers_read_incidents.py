from django.apps import apps as installed
from django.contrib.auth.management import create_permissions
from django.db import migrations


def let_engineers_read_incidents(apps, schema_editor):
    """Who mends an outage reads when it began and why. New groups get this when they are made."""
    # Django makes permissions once all migrations have run, which is later than this.
    create_permissions(installed.get_app_config("kallpa"), apps=apps, verbosity=0, using=schema_editor.connection.alias)
    Group, Permission = apps.get_model("auth", "Group"), apps.get_model("auth", "Permission")
    for group in Group.objects.filter(name="Ingeniería"):
        group.permissions.add(Permission.objects.get(content_type__app_label="kallpa", codename="view_incident"))


class Migration(migrations.Migration):
    dependencies = [
        ("evals", "0004_desk_reads_production"),
        ("kallpa", "0003_incident"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]
    operations = [migrations.RunPython(let_engineers_read_incidents, migrations.RunPython.noop)]
