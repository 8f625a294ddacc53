"""Production as the desk reads it: masked, without saying who, and nothing to write. What is too old goes by itself."""

from django.contrib import admin
from django.utils import timezone

from assistant.agent_wording import was_interrupted
from assistant.ledger_admin import ModelCallAdmin
from assistant.models import AgentRun, Interaction, UserReport
from kallpa.admin import ReadOnly

__all__ = ["AgentRunAdmin", "InteractionAdmin", "ModelCallAdmin"]

WITHOUT_MODEL = (
    "Si el modelo dice «quick», respondieron las reglas y no se llamó a ningún modelo: la salida la escribieron las reglas, el hash es "
    "el de su código y no hubo consumo."
)


class UserReportInline(ReadOnly, admin.StackedInline):
    model = UserReport
    fields = ["word", "created_at"]
    extra = 0


@admin.register(Interaction)
class InteractionAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ["created_at", "kind", "why", "masked_text", "follow_up", "was_reported", "latency_ms", "cost"]
    list_filter = ["kind", "follow_up", ("report", admin.EmptyFieldListFilter), "reason", "cause", "model", "prompt_variant"]
    list_select_related = ["report"]
    search_fields = ["masked_text", "question"]
    date_hierarchy = "created_at"
    inlines = [UserReportInline]
    fieldsets = [
        (None, {"fields": ["created_at", "masked_text", "kind", "reason", "cause", "draft", "question", "masked_output"]}),
        ("Qué hizo la persona", {"fields": ["follow_up", "changed_fields", "followed_at"]}),
        ("Modelo", {"fields": ["model", "prompt_variant", "prompt_hash"], "description": WITHOUT_MODEL}),
        ("Consumo", {"fields": ["input_tokens", "output_tokens", "usage_measured", "latency_ms", "cost", "price_known"]}),
    ]

    @admin.display(description="motivo o causa")
    def why(self, interaction: Interaction) -> str:
        return interaction.reason or interaction.cause

    @admin.display(description="reportado", boolean=True)
    def was_reported(self, interaction: Interaction) -> bool:
        return hasattr(interaction, "report")

    @admin.display(description="costo (USD)", ordering="cost_micro_usd")
    def cost(self, interaction: Interaction) -> str:
        return f"{interaction.cost_micro_usd / 1_000_000:.6f}"


@admin.register(AgentRun)
class AgentRunAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ["created_at", "user", "masked_task", "how_it_ended", "cause", "model_calls", "cost"]
    list_filter = ["stop", "cause", "model"]
    list_select_related = ["user"]
    search_fields = ["masked_task", "answer"]
    date_hierarchy = "created_at"
    fieldsets = [
        (None, {"fields": ["created_at", "user", "masked_task", "answer", "how_it_ended", "cause", "steps"]}),
        ("Modelo", {"fields": ["model", "prompt_hash", "model_calls"]}),
        ("Consumo", {"fields": ["input_tokens", "output_tokens", "tokens_measured", "latency_ms", "cost", "price_known"]}),
    ]

    @admin.display(description="cómo terminó", ordering="stop")
    def how_it_ended(self, run: AgentRun) -> str:
        return "Se interrumpió" if was_interrupted(run, timezone.now()) else run.get_stop_display()

    @admin.display(description="costo (USD)", ordering="cost_micro_usd")
    def cost(self, run: AgentRun) -> str:
        return f"{run.cost_micro_usd / 1_000_000:.6f}"
