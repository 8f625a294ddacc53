"""Frozen rows: the database itself refuses to change a fact once written.

UPDATE only. A row that disappears is noticed instead: results protect what they point at, a run checks the hash of its
version before it starts, and an unsigned version passes no gate. A later migration that rebuilds one of these tables on
SQLite drops its trigger and must install it again; test_frozen_rows.py notices.
"""

from django.db import migrations

FROZEN = {
    # table: (condition over OLD and NEW; DISTINCT is replaced per vendor, what the error says)
    "evals_caserevision": ("TRUE", "a case revision is frozen"),
    "evals_datasetversion": ("TRUE", "a dataset version is frozen"),
    "evals_datasetversion_revisions": ("TRUE", "a dataset version is frozen"),
    "evals_signature": ("TRUE", "a signature is frozen"),
    "evals_recording": ("TRUE", "a recording is frozen: a correction is a new recording"),
    "evals_result": ("OLD.status = 'done'", "a finished result is frozen"),
    "evals_scoring": (
        "OLD.decision <> '' AND (OLD.decision <> NEW.decision OR OLD.run_id <> NEW.run_id"
        " OR OLD.verdict DISTINCT NEW.verdict OR OLD.aggregates DISTINCT NEW.aggregates)",
        "a stored verdict is frozen",
    ),
}
SIGNED = "EXISTS (SELECT 1 FROM evals_signature WHERE version_id = NEW.datasetversion_id)"


def _sqlite(table, event, condition, message):
    condition = condition.replace("DISTINCT", "IS NOT")
    return [
        f"CREATE TRIGGER frozen_{event}_{table} BEFORE {event} ON {table} WHEN {condition}"
        f" BEGIN SELECT RAISE(ABORT, '{message}'); END"
    ]


def _postgresql(table, event, condition, message):
    condition = condition.replace("DISTINCT", "IS DISTINCT FROM")
    name = f"frozen_{event}_{table}"
    return [
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" IF {condition} THEN RAISE EXCEPTION '{message}' USING ERRCODE = 'integrity_constraint_violation'; END IF;"
        f" RETURN NEW; END $$",
        f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()",
    ]


def _triggers():
    for table, (condition, message) in FROZEN.items():
        yield table, "UPDATE", condition, message
    yield "evals_datasetversion_revisions", "INSERT", SIGNED, "a signed version takes no more cases"


def install(apps, schema_editor):
    build = {"sqlite": _sqlite, "postgresql": _postgresql}[schema_editor.connection.vendor]
    for trigger in _triggers():
        for statement in build(*trigger):
            schema_editor.execute(statement)


def remove(apps, schema_editor):
    for table, event, _, _ in _triggers():
        name = f"frozen_{event}_{table}"
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(f"DROP TRIGGER {name} ON {table}")
            schema_editor.execute(f"DROP FUNCTION {name}()")
        else:
            schema_editor.execute(f"DROP TRIGGER {name}")


class Migration(migrations.Migration):
    dependencies = [("evals", "0001_initial")]
    operations = [migrations.RunPython(install, remove)]
