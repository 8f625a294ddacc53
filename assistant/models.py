"""What production leaves behind: every use of the assistant, what people said about it, every call bought. No text is unmasked."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from bookings.models import Booking, Member

MAX_WORD = 200


class Kind(models.TextChoices):
    DRAFT = "draft", "Borrador"
    CLARIFY = "clarify", "Pregunta"
    REFUSE = "refuse", "No ayuda con eso"
    REJECTED = "rejected", "Salida rechazada"
    UNAVAILABLE = "unavailable", "No disponible"


class FollowUp(models.TextChoices):
    NONE = "none", "Nada todavía"
    CONFIRMED = "confirmed", "Confirmó tal cual"
    CHANGED = "changed", "Cambió algo y confirmó"
    DISCARDED = "discarded", "Descartó"


class Interaction(models.Model):
    """One use of the assistant. `draft` has the model's own keys; money in micro-USD, time in milliseconds."""

    member = models.ForeignKey(
        Member, verbose_name="miembro", null=True, blank=True, on_delete=models.SET_NULL, related_name="interactions"
    )
    created_at = models.DateTimeField("cuándo", db_index=True)
    masked_text = models.TextField("pedido (enmascarado)", blank=True)
    kind = models.CharField("resultado", max_length=12, choices=Kind.choices)
    reason = models.CharField("motivo del rechazo", max_length=40, blank=True)
    cause = models.CharField("causa de la caída", max_length=20, blank=True)
    draft = models.JSONField("borrador", null=True, blank=True)
    question = models.TextField("pregunta (enmascarada)", blank=True)
    masked_output = models.TextField("salida del modelo (enmascarada)", blank=True)
    prompt_hash = models.CharField("hash del prompt", max_length=64)
    prompt_variant = models.CharField("variante del prompt", max_length=20)
    model = models.CharField("modelo", max_length=200, blank=True)
    input_tokens = models.PositiveIntegerField("tokens de entrada", default=0)
    output_tokens = models.PositiveIntegerField("tokens de salida", default=0)
    usage_measured = models.BooleanField("tokens contados por el proveedor", default=False)
    latency_ms = models.PositiveIntegerField("latencia (ms)", default=0)
    cost_micro_usd = models.PositiveBigIntegerField("costo (millonésimas de USD)", default=0)
    price_known = models.BooleanField("precio conocido", default=True)
    follow_up = models.CharField("qué hizo después", max_length=10, choices=FollowUp.choices, default=FollowUp.NONE)
    changed_fields = models.JSONField("campos que cambió", default=list, blank=True)
    booking = models.ForeignKey(
        Booking, verbose_name="reserva", null=True, blank=True, on_delete=models.SET_NULL, related_name="interactions"
    )
    followed_at = models.DateTimeField("cuándo lo hizo", null=True, blank=True)

    class Meta:
        verbose_name = "uso del asistente"
        verbose_name_plural = "usos del asistente"
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(name="interaction_kind_is_known", condition=Q(kind__in=Kind.values)),
            models.CheckConstraint(name="interaction_follow_up_is_known", condition=Q(follow_up__in=FollowUp.values)),
            models.CheckConstraint(
                name="interaction_has_a_draft_when_it_drafts",
                condition=Q(kind=Kind.DRAFT, draft__isnull=False) | (~Q(kind=Kind.DRAFT) & Q(draft__isnull=True)),
            ),
            models.CheckConstraint(
                name="interaction_says_why_it_was_rejected",
                condition=(Q(kind=Kind.REJECTED) & ~Q(reason="")) | (~Q(kind=Kind.REJECTED) & Q(reason="")),
            ),
            models.CheckConstraint(
                name="interaction_says_why_it_was_unavailable",
                condition=(Q(kind=Kind.UNAVAILABLE) & ~Q(cause="")) | (~Q(kind=Kind.UNAVAILABLE) & Q(cause="")),
            ),
            models.CheckConstraint(
                name="interaction_follow_up_has_a_time",
                condition=Q(follow_up=FollowUp.NONE, followed_at__isnull=True)
                | (~Q(follow_up=FollowUp.NONE) & Q(kind=Kind.DRAFT, followed_at__isnull=False)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}, {self.created_at:%d/%m/%Y %H:%M}"


class UserReport(models.Model):
    """«Esto no es lo que pedí», with a word from the person, masked. One for each use."""

    interaction = models.OneToOneField(Interaction, verbose_name="uso", on_delete=models.CASCADE, related_name="report")
    word = models.CharField("qué dijo (enmascarado)", max_length=MAX_WORD, blank=True)
    created_at = models.DateTimeField("cuándo")

    class Meta:
        verbose_name = "reporte de una persona"
        verbose_name_plural = "reportes de personas"
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.word or "Sin palabras"


class Purpose(models.TextChoices):
    ASSISTANT = "assistant", "Asistente"
    AGENT = "agent", "Agente del personal"
    TARGET = "target", "Evaluación"
    JUDGE = "judge", "Juez"
    CANARY = "canary", "Llamada de control"
    CHECK = "check", "Prueba de un modelo"


class ModelCall(models.Model):
    """The money ledger: one call that was bought from a provider, all its attempts together. Never a word of prompt or answer.

    `created_at` is when its money was reserved. `outcome` is "ok" or the cause of the error, `reference` names what it was for,
    such as "interaction:7". Without an answer the tokens are the most that the attempts may be charged for.
    """

    OK = "ok"

    created_at = models.DateTimeField("cuándo", db_index=True)
    purpose = models.CharField("para qué", max_length=10, choices=Purpose.choices)
    model = models.CharField("modelo", max_length=200)
    server = models.CharField("servidor", max_length=255, blank=True)
    input_tokens = models.PositiveIntegerField("tokens de entrada")
    output_tokens = models.PositiveIntegerField("tokens de salida")
    tokens_measured = models.BooleanField("tokens contados por el proveedor")
    cost_micro_usd = models.PositiveBigIntegerField("costo (millonésimas de USD)")
    price_known = models.BooleanField("precio conocido")
    latency_ms = models.PositiveIntegerField("latencia (ms)")
    attempts = models.PositiveSmallIntegerField("intentos")
    outcome = models.CharField("cómo terminó", max_length=40)
    reference = models.CharField("de qué", max_length=60, blank=True)
    prompt_hash = models.CharField("hash del prompt", max_length=64, blank=True)

    class Meta:
        verbose_name = "llamada al modelo"
        verbose_name_plural = "llamadas al modelo"
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(name="call_purpose_is_known", condition=Q(purpose__in=Purpose.values)),
            models.CheckConstraint(name="call_was_made", condition=Q(attempts__gte=1)),
            models.CheckConstraint(name="call_names_its_model", condition=~Q(model="")),
            models.CheckConstraint(name="call_says_how_it_ended", condition=~Q(outcome="")),
            models.CheckConstraint(name="call_counts_only_answers", condition=Q(tokens_measured=False) | Q(outcome="ok")),
        ]

    def __str__(self) -> str:
        return f"{self.get_purpose_display()}, {self.model}, {self.created_at:%d/%m/%Y %H:%M}"


class AgentStop(models.TextChoices):
    """The stops of assistant.agent, and none while the run goes on."""

    RUNNING = "", "En curso"
    MODEL = "model", "El modelo terminó"
    MAX_STEPS = "max-steps", "Máximo de pasos"
    CONTEXT_WINDOW = "context-window", "No cabía más"
    BUDGET = "budget", "Sin presupuesto"
    UNAVAILABLE = "unavailable", "No disponible"
    APPROVAL = "approval", "Espera permiso"


class AgentRun(models.Model):
    """One task of somebody of the staff, with its steps. Money in micro-USD, time in milliseconds.

    `conversation` is what a run that waits for a person goes on from: the masked task, masked results and the model's own words. It
    is there only while the run waits, and `waiting_call` is the fingerprint of the one call that the person decides about.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, verbose_name="quién", null=True, blank=True, on_delete=models.SET_NULL, related_name="agent_runs"
    )
    key = models.UUIDField("clave del pedido")
    created_at = models.DateTimeField("cuándo", db_index=True)
    running_since = models.DateTimeField("en curso desde", null=True, blank=True)
    masked_task = models.TextField("pedido (enmascarado)", blank=True)
    steps = models.JSONField("pasos", default=list, blank=True)
    answer = models.TextField("respuesta (enmascarada)", blank=True)
    stop = models.CharField("cómo terminó", max_length=14, choices=AgentStop.choices, default=AgentStop.RUNNING, blank=True)
    cause = models.CharField("causa de la caída", max_length=20, blank=True)
    conversation = models.JSONField("conversación que espera", null=True, blank=True)
    waiting_call = models.CharField("llamada que espera", max_length=64, blank=True)
    model = models.CharField("modelo", max_length=200, blank=True)
    prompt_hash = models.CharField("hash del prompt", max_length=64)
    model_calls = models.PositiveSmallIntegerField("respuestas del modelo", default=0)
    input_tokens = models.PositiveIntegerField("tokens de entrada", default=0)
    output_tokens = models.PositiveIntegerField("tokens de salida", default=0)
    tokens_measured = models.BooleanField("tokens contados por el proveedor", default=False)
    latency_ms = models.PositiveIntegerField("latencia (ms)", default=0)
    cost_micro_usd = models.PositiveBigIntegerField("costo (millonésimas de USD)", default=0)
    price_known = models.BooleanField("precio conocido", default=True)

    class Meta:
        verbose_name = "uso del agente"
        verbose_name_plural = "usos del agente"
        permissions = [("use_agent", "Puede usar el agente del personal")]
        ordering = ["-created_at", "-pk"]
        indexes = [models.Index(fields=["user", "-created_at"], name="agentrun_user_created")]
        constraints = [
            models.UniqueConstraint(name="one_agentrun_per_user_and_key", fields=["user", "key"]),
            models.CheckConstraint(name="agentrun_stop_is_known", condition=Q(stop__in=AgentStop.values)),
            models.CheckConstraint(
                name="agentrun_runs_since_a_time",
                condition=Q(stop="", running_since__isnull=False) | (~Q(stop="") & Q(running_since__isnull=True)),
            ),
            models.CheckConstraint(
                name="agentrun_waits_with_its_conversation",
                condition=(Q(stop="approval", conversation__isnull=False) & ~Q(waiting_call=""))
                | (~Q(stop="approval") & Q(conversation__isnull=True, waiting_call="")),
            ),
            models.CheckConstraint(
                name="agentrun_says_why_it_was_unavailable",
                condition=(Q(stop__in=("unavailable", "budget")) & ~Q(cause="")) | (~Q(stop__in=("unavailable", "budget")) & Q(cause="")),
            ),
            models.CheckConstraint(name="agentrun_answers_when_the_model_ends", condition=~Q(stop="model") | ~Q(answer="")),
        ]

    def __str__(self) -> str:
        return f"{self.get_stop_display()}, {self.created_at:%d/%m/%Y %H:%M}"
