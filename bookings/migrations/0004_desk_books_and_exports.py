"""The front desk also books for people who come or call, and exports what was booked."""

from django.apps import apps as installed
from django.contrib.auth.management import create_permissions
from django.db import migrations

DESK = "Administración del complejo"
CODENAMES = ("add_booking", "export_booking")


def let_the_desk_book_and_export(apps, schema_editor):
    """Adds to what the group may do; whatever else somebody gave or took stays."""
    # Django makes permissions once all migrations have run, which is later than this.
    create_permissions(installed.get_app_config("bookings"), apps=apps, verbosity=0, using=schema_editor.connection.alias)
    Group, Permission = apps.get_model("auth", "Group"), apps.get_model("auth", "Permission")
    for group in Group.objects.filter(name=DESK):
        group.permissions.add(*Permission.objects.filter(content_type__app_label="bookings", codename__in=CODENAMES))


class Migration(migrations.Migration):
    dependencies = [("bookings", "0003_groups")]
    operations = [
        migrations.AlterModelOptions(
            name="booking",
            options={
                "ordering": ["-date", "-start_hour", "-pk"],
                "permissions": [("export_booking", "Puede exportar reservas")],
                "verbose_name": "reserva",
                "verbose_name_plural": "reservas",
            },
        ),
        migrations.RunPython(let_the_desk_book_and_export, migrations.RunPython.noop),
    ]
