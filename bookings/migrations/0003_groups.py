"""The groups of the complex. Those of the desk are made where the desk's permissions are known."""

from django.apps import apps as installed
from django.contrib.auth.management import create_permissions
from django.db import migrations

SEEN = ("member", "court", "booking", "courtblock", "bookedhour")
GROUPS = {
    "Vecinos": (),
    "Administración del complejo": (
        *(f"view_{model}" for model in SEEN),
        *(f"{action}_{model}" for model in ("member", "court") for action in ("add", "change")),
        *(f"{action}_courtblock" for action in ("add", "change", "delete")),
        "change_booking",
    ),
    "Solo lectura": tuple(f"view_{model}" for model in SEEN),
}


def make_groups(apps, schema_editor):
    """Makes the missing ones; a group that exists keeps the permissions that somebody gave it."""
    # Django makes permissions once all migrations have run, which is later than this.
    create_permissions(installed.get_app_config("bookings"), apps=apps, verbosity=0, using=schema_editor.connection.alias)
    Group, Permission = apps.get_model("auth", "Group"), apps.get_model("auth", "Permission")
    for name, codenames in GROUPS.items():
        group, is_new = Group.objects.get_or_create(name=name)
        if is_new:
            group.permissions.set(Permission.objects.filter(content_type__app_label="bookings", codename__in=codenames))


class Migration(migrations.Migration):
    dependencies = [
        ("bookings", "0002_court_blocks"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]
    operations = [migrations.RunPython(make_groups, migrations.RunPython.noop)]
