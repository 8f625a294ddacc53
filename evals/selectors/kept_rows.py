"""What a line of history of a dataset, a policy or a threshold says, field by field in words."""

from typing import Any

from django.db.models import Field, QuerySet

from evals.models import Dataset
from evals.words import YES_NO

NOT_TOLD = {"id", "created_at", "updated_at", "dataset", "policy"}
DELEGATES = str(Dataset._meta.get_field("delegates").verbose_name)


def dataset_lines(lines: QuerySet[Any]) -> QuerySet[Any]:
    """With the people that each line names, in a number of queries that does not grow."""
    return lines.select_related("history_user", "owner").prefetch_related("historicaldataset_delegates_set__user")


def say_row(line: Any) -> dict[str, str]:
    """Each field by the name that people read; empty where there is nothing."""
    model = line.instance_type
    said = {str(field.verbose_name): _say_value(line, field) for field in model._meta.concrete_fields if field.name not in NOT_TOLD}
    if model is Dataset:
        said[DELEGATES] = ", ".join(sorted(str(row.user) for row in line.historicaldataset_delegates_set.all()))
    return said


def _say_value(line: Any, field: "Field[Any, Any]") -> str:
    value = getattr(line, field.attname)
    if field.is_relation and value:
        return str(getattr(line, field.name) or f"alguien que ya no existe ({value})")
    if isinstance(value, bool):
        return YES_NO[value]
    if isinstance(value, float):
        return f"{value:g}"
    return str(getattr(line, f"get_{field.name}_display")() if field.choices else value or "") if value is not None else ""
