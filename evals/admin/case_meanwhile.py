"""What happened to a case between opening its form and saving it, and what the form says and does about it.

A field is *theirs* when the case says something else than it did and the person did not touch it: the form takes it, and says so. It is
*both's* when both changed it and not to the same: the form keeps what was typed, and says what the other person left.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from django import forms
from django.http import QueryDict
from django.utils.formats import date_format
from django.utils.timezone import localtime

from evals.admin.case_fields import form_values
from evals.admin.case_history import say_act
from evals.datasets.differences import changed_fields
from evals.datasets.revisions import spec_of
from evals.figures import say_count
from evals.models import Case
from evals.values import canonical_hash

LINES_TOLD = 3
LOOKED_BACK = 5  # a save between reading a case and asking for its newest line leaves that line too new
AT_MOST = 300


class StoredCase(NamedTuple):
    """The case as it was stored when the form was made, before anything was typed into it."""

    status: str
    values: Mapping[str, Any]


class Meanwhile(NamedTuple):
    """The state that the form was opened with (None: nobody knows), the lines written since, newest first, and whose each field is."""

    before: Any | None
    lines: Sequence[Any]
    theirs: tuple[str, ...]
    both: tuple[str, ...]


def mark_seen(case: Case, stored: StoredCase) -> str:
    """What a form carries of the state it shows: its hash, and the newest line of the case's history."""
    newest = case.history.order_by("-history_id").values_list("pk", flat=True).first() if case.pk else None
    return f"{_hash_of(stored)}.{newest or 0}"


def _hash_of(state: StoredCase) -> str:
    return canonical_hash({"status": state.status, **{name: str(value) for name, value in state.values.items()}})


def find_meanwhile(form: forms.ModelForm, stored: StoredCase, seen: str) -> Meanwhile | None:
    """None where the case is as the person saw it, or says already what they typed."""
    shown, _, number = seen.partition(".")
    if shown == _hash_of(stored):
        return None
    before, lines = _lines_since(form.instance, shown, int(number) if re.fullmatch(r"[0-9]{1,9}", number) else 0)
    differing = [name for name in form.changed_data if name in stored.values]
    then = form_values(before) if before else None
    changed = [name for name in differing if then is None or then[name] != stored.values[name]]
    both = tuple(name for name in changed if then is None or form.fields[name].has_changed(then[name], form[name].data))
    moved = before is not None and before.status != stored.status
    if not differing and not moved:
        return None
    return Meanwhile(before, lines, tuple(name for name in changed if name not in both), both) if changed or moved else None


def _lines_since(case: Case, shown: str, number: int) -> tuple[Any | None, list[Any]]:
    """The line that says what was shown, and those after it. The hash proves that the person did see it."""
    lines = case.history.select_related("history_user").order_by("-history_id")
    candidates = lines.filter(history_id__lte=number)[:LOOKED_BACK]
    before = next((line for line in candidates if _hash_of(StoredCase(line.status, form_values(line))) == shown), None)
    return before, list(lines.filter(history_id__gt=before.pk if before else number))


# --- In words -------------------------------------------------------------------------------------------------------------


def say_meanwhile(case: Case, found: Meanwhile) -> str:
    """Who did what, when and why; what the form holds now; and how to go on."""
    told = " ".join(_say_line(case, line, before) for line, before in _with_before(found)[:LINES_TOLD])
    rest = len(found.lines) - LINES_TOLD
    more = f" Antes hubo {say_count(rest, 'cambio', 'cambios')} más: están en su historial." if rest > 0 else ""
    theirs = " Lo que tú no habías tocado ya está en el formulario como quedó." if found.theirs else ""
    both = " Donde los dos cambiaron lo mismo está lo tuyo, y junto al campo lo que quedó guardado." if found.both else ""
    return (
        f"Este caso cambió mientras lo editabas, y lo tuyo no se guardó todavía. {told}{more}{theirs}{both} "
        "Lo que escribiste sigue aquí: revisa y guarda otra vez, quedará lo que ves."
    )


def _with_before(found: Meanwhile) -> list[tuple[Any, Any | None]]:
    return list(zip(found.lines, [*found.lines[1:], found.before], strict=True)) if found.lines else []


def _say_line(case: Case, line: Any, before: Any | None) -> str:
    """`experta lo cambió (hora de inicio) el lunes 09/03, 10:00, junto con 3 casos más: «El precio subió.»`

    Of a line written while the case was held out, which it is no longer, only who and when.
    """
    closed = not case.held_out and (line.held_out or (before is not None and before.held_out))
    names = [change.field for change in changed_fields(spec_of(before), spec_of(line))] if before and not closed else []
    act = "lo guardó" if closed else say_act(line, before, changed=bool(names))
    fields = f" ({', '.join(names)})" if names else ""
    others = _written_together(case, line)
    together = f", junto con {say_count(others, 'caso', 'casos')} más" if others else ""
    why = f": «{line.history_change_reason}»" if line.history_change_reason and not closed else ""
    moment = date_format(localtime(line.history_date), "l d/m, H:i")
    return f"{line.history_user or 'Un programa'} {act}{fields} el {moment}{together}{why}{'' if why.endswith('.»') else '.'}"


def _written_together(case: Case, line: Any) -> int:
    """Other cases that the same person wrote at the same instant: an import, or an action on many."""
    same = Case.history.filter(dataset=case.dataset_id, history_date=line.history_date, history_user=line.history_user)
    return same.exclude(id=case.pk).values("id").distinct().count()


def say_fields(form: forms.ModelForm, found: Meanwhile) -> dict[str, str]:
    """What to say beside each field that somebody else changed."""
    then = form_values(found.before) if found.before else {}
    said = {name: _say_value(form, name, form.initial.get(name)) for name in (*found.theirs, *found.both)}
    was = {name: _say_value(form, name, then[name]) for name in said if name in then}
    theirs = {name: f"Cambió mientras editabas: antes «{was[name]}», ahora «{said[name]}». Ya está aquí." for name in found.theirs}
    both = {
        name: f"Los dos lo cambiaron{_say_was(was.get(name))}. Quedó guardado «{said[name]}»; aquí está lo tuyo." for name in found.both
    }
    return theirs | both


def _say_was(value: str | None) -> str:
    return "" if value is None else f" (antes decía «{value}»)"


def _say_value(form: forms.ModelForm, name: str, value: Any) -> str:
    """A value as its field shows it, in one line."""
    field = form.fields[name]
    if isinstance(value, bool):
        return "sí" if value else "no"
    if isinstance(field, forms.ChoiceField):
        return str(dict(field.choices).get(value, value if value is not None else "en blanco"))  # type: ignore[arg-type]
    if isinstance(value, datetime):
        return date_format(localtime(value), "l d/m/Y H:i")
    if isinstance(value, date):
        return date_format(value, "l d/m/Y")
    said = " / ".join(line for line in str(value if value is not None else "").splitlines() if line.strip())
    return (said if len(said) <= AT_MOST else f"{said[:AT_MOST]}… (entero en el historial)") or "en blanco"


# --- In the form ----------------------------------------------------------------------------------------------------------


def with_theirs(form: forms.ModelForm, found: Meanwhile) -> QueryDict:
    """What was posted, with the fields that only others changed as they left them, and with what the person has seen by now."""
    assert isinstance(form.data, QueryDict)  # noqa: S101 -- a form of the admin is filled by a request
    posted = form.data.copy()
    posted["seen"] = form.initial["seen"]
    for name in found.theirs:
        _put(posted, form[name])
    return posted


def _put(posted: QueryDict, field: forms.BoundField) -> None:
    """The stored value of a field as a browser would post it."""
    widget, value = field.field.widget, field.field.prepare_value(field.initial)
    if isinstance(widget, forms.CheckboxInput):
        posted.pop(field.html_name, None)
        if value:
            posted[field.html_name] = "on"
    elif isinstance(widget, forms.MultiWidget):
        for number, (part, each) in enumerate(zip(widget.widgets, widget.decompress(value) or (), strict=True)):
            posted[f"{field.html_name}_{number}"] = part.format_value(each) or ""
    elif isinstance(widget, forms.Select):
        posted[field.html_name] = "" if value is None else str(value)
    else:
        posted[field.html_name] = widget.format_value(value) or ""
