"""Runs, what came out of each case, and how it was graded. All of it is read only."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import OuterRef, Prefetch, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils import timezone
from django.utils.text import Truncator
from django.utils.timezone import localtime

from assistant.llm import ModelError
from evals.admin.access import HELD_OUT, AboutCase, FrozenAdmin, is_held_out, may_read_held_out, opened_cases
from evals.admin.case_results import WAITS, was_written
from evals.admin.run_page import run_context
from evals.admin.trail import trail_url
from evals.admin.words import case_lines, say_answer
from evals.datasets.revisions import read_spec
from evals.figures import say_fraction, say_percent, say_usd
from evals.metrics import METRICS
from evals.models import Result, Run, Score, Scoring
from evals.selectors import stored_aggregates
from evals.services import NotRunnable, cancel_run, rescore_run, resume_run
from evals.values import Outcome
from evals.words import OUTCOME_WORDS, say_expected

RECENT_RUNS = 15


@admin.register(Run)
class RunAdmin(FrozenAdmin):
    list_display = ("__str__", "version", "model_kind", "model_name", "purpose", "status", "correct", "decision", "when")
    list_filter = ("version__dataset", "model_kind", "purpose", "status")
    list_per_page = 50
    change_form_template = "admin/evals/run/change_form.html"
    show_facets = admin.ShowFacets.NEVER
    actions = ("resume", "retry_errors", "cancel", "rescore")

    def get_urls(self) -> list[URLPattern]:
        return [trail_url(self, Run), *super().get_urls()]

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("evals.add_run")

    @admin.action(description="Seguir con lo que falta", permissions=["operate"])
    def resume(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        self._resume(request, queryset, retry_errors=False)

    @admin.action(description="Preguntar otra vez lo que terminó en error", permissions=["operate"])
    def retry_errors(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        self._resume(request, queryset, retry_errors=True)

    def _resume(self, request: HttpRequest, queryset: QuerySet[Run], *, retry_errors: bool) -> None:
        for run in queryset:
            try:
                again = resume_run(run=run, retry_errors=retry_errors, by=_user(request), now=timezone.now(), queue=True)
            except (NotRunnable, ModelError) as error:
                self.message_user(request, str(error), messages.ERROR)
            else:
                done = again.status == Run.Status.FINISHED
                self.message_user(request, f"La {run} no tiene nada pendiente." if done else f"La {run} está en cola.")

    @admin.action(description="Cancelar para siempre", permissions=["operate"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        for run in queryset:
            self.message_user(request, f"La {run} se canceló." if cancel_run(run=run) else f"La {run} ya había terminado.")

    @admin.action(description="Calificar otra vez, sin preguntar al modelo", permissions=["operate"])
    def rescore(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        for run in queryset:
            try:
                scoring = rescore_run(run=run, by=_user(request), now=timezone.now())
                self.message_user(request, f"La {run} se calificó otra vez: {scoring.decision}.")
            except NotRunnable as error:
                self.message_user(request, str(error), messages.ERROR)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        current = Prefetch("scorings", Scoring.objects.filter(is_current=True), to_attr="current_scorings")
        return super().get_queryset(request).select_related("version__dataset").prefetch_related(current)

    @admin.display(description="correctos")
    def correct(self, run: Run) -> str:
        scoring = _current_scoring(run)
        found = stored_aggregates(scoring).get("correct") if scoring else None
        return f"{say_fraction(found)}, {say_percent(found.value)}" if found and found.value is not None else "—"

    @admin.display(description="creada", ordering="created_at")
    def when(self, run: Run) -> str:
        return f"{localtime(run.created_at):%d/%m/%Y %H:%M}"

    @admin.display(description="veredicto")
    def decision(self, run: Run) -> str:
        scoring = _current_scoring(run)
        return scoring.decision if scoring and scoring.decision else "—"

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        run = self.get_object(request, object_id)
        shown = run_context(run) if run and self.has_view_permission(request, run) else {}
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **shown})


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # noqa: S101 -- nobody anonymous passes the admin's door
    return request.user


def _current_scoring(run: Run) -> Scoring | None:
    scorings: list[Scoring] = run.current_scorings  # type: ignore[attr-defined]
    return scorings[0] if scorings else None


class RunFilter(admin.SimpleListFilter):
    """The newest runs, and the one asked for."""

    title = "corrida"
    parameter_name = "run"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        runs = list(Run.objects.select_related("version__dataset").order_by("-pk")[:RECENT_RUNS])
        names = {str(run.pk): f"{run.pk} · {run.version}" for run in runs}
        asked = request.GET.get("run", "")
        return list(({} if asked in names or not asked.isdecimal() else {asked: asked}).items()) + list(names.items())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Result]) -> QuerySet[Result]:
        asked = self.value() or ""
        return queryset.filter(run=int(asked)) if asked.isdecimal() else queryset


class GradeFilter(admin.SimpleListFilter):
    title = "nota"
    parameter_name = "nota"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("bien", "correcto"), ("mal", "incorrecto"), ("sin", "sin nota")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Result]) -> QuerySet[Result]:
        grades: dict[str, dict[str, Any]] = {"bien": {"grade": 1.0}, "mal": {"grade__lt": 1.0}, "sin": {"grade__isnull": True}}
        return queryset.filter(**grades.get(self.value() or "", {}))


class KindFilter(admin.SimpleListFilter):
    title = "salió"
    parameter_name = "salio"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return list(OUTCOME_WORDS.items())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Result]) -> QuerySet[Result]:
        """What came out of a held-out case finds it only for those who have it open; where nobody wrote what is right, it finds nothing."""
        if not self.value():
            return queryset
        queryset = queryset.filter(revision__case__answer_written_at__isnull=False)
        is_open = Q(revision__traits__held_out__isnull=True, revision__case__held_out=False) | Q(revision__case__in=opened_cases(request))
        return queryset.filter(is_open, outcome_kind=self.value())


@admin.register(Result)
class ResultAdmin(AboutCase):
    list_display = ("key", "run_number", "is_correct", "status", "latency")
    list_filter = (RunFilter, GradeFilter, "status", KindFilter)
    list_per_page = 50
    search_fields = ("revision__case__key",)
    search_help_text = "Busca por la clave del caso."
    change_form_template = "admin/evals/result/change_form.html"
    show_facets = admin.ShowFacets.NEVER

    def get_queryset(self, request: HttpRequest) -> QuerySet[Result]:
        """With the current grade beside each. Held-out cases are for those who may read them."""
        grade = Score.objects.filter(result=OuterRef("pk"), metric="correct", scoring__is_current=True).values("value")[:1]
        results = super().get_queryset(request).select_related("revision__case", "run").annotate(grade=Subquery(grade))
        if may_read_held_out(request):
            return results
        return results.filter(revision__traits__held_out__isnull=True, revision__case__held_out=False)

    @admin.display(description="caso", ordering="revision__case__key")
    def key(self, result: Result) -> str:
        return result.revision.key if result.run.repetitions == 1 else f"{result.revision.key} #{result.repetition}"

    @admin.display(description="corrida", ordering="run")
    def run_number(self, result: Result) -> str:
        return str(result.run_id)

    def case_of(self, row: Result) -> tuple[int, bool]:
        return row.revision.case_id, is_held_out(row.revision)

    def get_list_display(self, request: HttpRequest) -> tuple[Any, ...]:
        """Two columns depend on who is looking."""

        @admin.display(description="se esperaba")
        def expected(result: Result) -> str:
            return HELD_OUT if self.is_closed(request, result) else Truncator(say_expected(read_spec(result.revision).expected)).chars(60)

        @admin.display(description="salió")
        def got(result: Result) -> str:
            said = HELD_OUT if self.is_closed(request, result) else _say_got(result)
            return said if said == WAITS else Truncator(said).chars(60)

        return (*self.list_display[:2], expected, got, *self.list_display[2:])

    @admin.display(description="correcto", boolean=True, ordering="grade")
    def is_correct(self, result: Result) -> bool | None:
        grade: float | None = result.grade  # type: ignore[attr-defined]
        return None if grade is None else grade == 1.0

    @admin.display(description="ms", ordering="latency_ms")
    def latency(self, result: Result) -> str:
        return "—" if result.latency_ms is None else f"{result.latency_ms:,.0f}"

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        result = self.get_object(request, object_id)
        shown = _result_context(result) if result and self.has_view_permission(request, result) else {}
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **shown})


def _say_got(result: Result) -> str:
    """What came out, once a person has saved what is right for the case."""
    return say_answer(result) if was_written(result.revision.case) else WAITS


def _result_context(result: Result) -> dict[str, Any]:
    """Scores quote what came out, so they wait with it."""
    spec, shows = read_spec(result.revision), was_written(result.revision.case)
    outcome = Outcome.from_row(result.outcome) if result.outcome and shows else None
    scores = Score.objects.filter(result=result, scoring__is_current=True).order_by("id") if shows else []
    return {
        "lines": case_lines(spec),
        "expected": say_expected(spec.expected),
        "got": _say_got(result),
        "outcome": outcome,
        "scores": [(METRICS[score.metric].label, score) for score in scores if score.metric in METRICS],
        "spending": _say_spending(result),
    }


def _say_spending(result: Result) -> list[tuple[str, str]]:
    if result.status != Result.Status.DONE:
        return []
    how = "medidos" if result.tokens_measured else "estimados"
    return [
        ("Tokens", f"{result.input_tokens:,} de entrada, {result.output_tokens:,} de salida ({how})"),
        ("Latencia", f"{result.latency_ms:,.0f} ms"),
        ("Intentos", str(result.attempts)),
        ("Costo", say_usd(result.cost_micro_usd or 0)),
    ]


@admin.register(Scoring)
class ScoringAdmin(FrozenAdmin):
    list_display = ("__str__", "is_current", "decision", "judge", "created_at", "closed_at")
    list_filter = ("is_current", "decision")
    list_select_related = ("run",)
    fields = ("run", "is_current", "decision", "judge", "metrics_hash", "created_by", "created_at", "closed_at")
    readonly_fields = fields
    show_facets = admin.ShowFacets.NEVER
