from django.apps import apps as installed
from django.contrib.auth.management import create_permissions
from django.db import migrations

GROUPS = {"Administración del complejo": ("use_agent",), "Ingeniería": ("use_agent", "view_agentrun")}


def let_the_staff_use_the_agent(apps, schema_editor):
    """Adds to what the groups may do; whatever else somebody gave or took stays. New groups get this when they are made."""
    # Django makes permissions once all migrations have run, which is later than this.
    create_permissions(installed.get_app_config("assistant"), apps=apps, verbosity=0, using=schema_editor.connection.alias)
    Group, Permission = apps.get_model("auth", "Group"), apps.get_model("auth", "Permission")
    for name, codenames in GROUPS.items():
        for group in Group.objects.filter(name=name):
            group.permissions.add(*Permission.objects.filter(content_type__app_label="assistant", codename__in=codenames))


class Migration(migrations.Migration):
    dependencies = [
        ("assistant", "0003_agent_run"),
        ("bookings", "0004_desk_books_and_exports"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]
    operations = [migrations.RunPython(let_the_staff_use_the_agent, migrations.RunPython.noop)]
