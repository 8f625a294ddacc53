"""The golden dataset: live cases that experts edit, and the frozen states that results point at."""

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q

from evals.models.history import KeptHistory

KEY_PATTERN = r"^[a-z0-9][a-z0-9-]{0,79}$"
key_validator = RegexValidator(KEY_PATTERN, "Usa minúsculas sin tildes, números y guiones; hasta 80 caracteres.")


class Dataset(models.Model):
    """A golden dataset, owned by a person of the business."""

    slug = models.CharField("clave", max_length=80, unique=True, validators=[key_validator])
    name = models.CharField("nombre", max_length=120)
    description = models.TextField("descripción", blank=True)
    target = models.CharField("sistema evaluado", max_length=40, default="booking-assistant")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="owned_datasets", verbose_name="dueño de negocio"
    )
    delegates = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        blank=True,
        related_name="delegated_datasets",
        verbose_name="delegados",
        help_text="Personas que firman sus versiones cuando el dueño no puede.",
    )
    second_person_approves = models.BooleanField(
        "el autor no aprueba lo suyo", default=False, help_text="Un caso lo aprueba otra persona, no la que lo escribió o cambió al último."
    )
    created_at = models.DateTimeField("creado", auto_now_add=True)
    history = KeptHistory(m2m_fields=[delegates])

    class Meta:
        verbose_name = "dataset"
        verbose_name_plural = "datasets"
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug


class Case(models.Model):
    """The live row of one exam question."""

    class Status(models.TextChoices):
        PROPOSED = "proposed", "propuesto"
        APPROVED = "approved", "aprobado"
        RETIRED = "retired", "retirado"

    class Stratum(models.TextChoices):
        HAPPY = "happy", "normal"
        EDGE = "edge", "de borde"
        ADVERSARIAL = "adversarial", "adversario"

    class Kind(models.TextChoices):
        DRAFT = "draft", "llena un borrador"
        CLARIFY = "clarify", "pregunta"
        REFUSE = "refuse", "declina"
        NONE = "none", "cualquier cosa menos un borrador"
        TEXT = "text", "texto libre"
        LABELS = "labels", "etiquetas"
        ROUTE = "route", "ruta"
        TOOLS = "tools", "herramientas"

    class Channel(models.TextChoices):
        DIRECT = "direct", "directo: lo escribe quien pide"
        INDIRECT = "indirect", "indirecto: viene en lo que el sistema lee"

    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="cases", verbose_name="dataset")
    key = models.CharField("clave", max_length=80, validators=[key_validator])
    status = models.CharField("estado", max_length=10, choices=Status, default=Status.APPROVED)
    category = models.CharField("categoría", max_length=80, validators=[key_validator])
    stratum = models.CharField("estrato", max_length=12, choices=Stratum, default=Stratum.HAPPY)

    text = models.TextField("lo que escribe la persona", blank=True)
    messages = models.JSONField("mensajes", default=list, blank=True)

    now = models.DateTimeField("fecha y hora de la situación", null=True, blank=True, help_text="Hora de Lima.")
    occupied = models.JSONField("horas ocupadas", default=list, blank=True)
    documents = models.JSONField("documentos", default=list, blank=True)
    member = models.CharField("quién tiene la sesión", max_length=120, blank=True)

    expected_kind = models.CharField("lo correcto", max_length=8, choices=Kind, default=Kind.DRAFT)
    expected_sport = models.CharField("deporte", max_length=10, blank=True)
    expected_date = models.DateField("fecha", null=True, blank=True)
    expected_start_hour = models.IntegerField("hora de inicio", null=True, blank=True)
    expected_hours = models.IntegerField("horas", null=True, blank=True)
    expected_text = models.TextField("texto de referencia", blank=True)
    expected_labels = models.JSONField("etiquetas", default=list, blank=True)
    expected_route = models.CharField("ruta", max_length=80, blank=True)
    expected_tools = models.JSONField("herramientas", default=list, blank=True)

    never_say = models.JSONField("lo que nunca debe decir", default=list, blank=True)
    attack_family = models.CharField("familia de ataque", max_length=40, blank=True)
    attack_channel = models.CharField("vía del ataque", max_length=8, choices=Channel, blank=True)
    obeying = models.JSONField("cómo se vería obedecer el ataque", default=list, blank=True)
    benign = models.BooleanField("parece un ataque pero es legítimo", default=False)
    blocking = models.BooleanField("bloqueante", default=False, help_text="Si falla, falla toda la corrida.")
    held_out = models.BooleanField("reservado", default=False, help_text="Solo se corre para publicar.")
    tags = models.JSONField("etiquetas de búsqueda", default=list, blank=True)
    notes = models.TextField("notas", blank=True)
    known_limitation = models.TextField(
        "limitación conocida", blank=True, help_text="Se espera que falle, y por qué. Cuenta como falla en todos los denominadores."
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name="quién lo escribió o cambió al último",
    )
    answer_written_at = models.DateTimeField("una persona guardó lo correcto", null=True, blank=True, editable=False)
    created_at = models.DateTimeField("creado", auto_now_add=True)
    updated_at = models.DateTimeField("editado", auto_now=True)
    history = KeptHistory()

    class Meta:
        verbose_name = "caso"
        verbose_name_plural = "casos"
        ordering = ["dataset", "key"]
        permissions = [("view_held_out_text", "Puede leer los casos reservados"), ("approve_case", "Puede aprobar casos")]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "key"], name="case_key_unique_in_dataset"),
            models.CheckConstraint(condition=~Q(blocking=True) | Q(known_limitation=""), name="case_blocking_has_no_known_limitation"),
            models.CheckConstraint(
                condition=~Q(expected_kind="draft")
                | ~Q(expected_sport="") & Q(expected_date__isnull=False, expected_start_hour__isnull=False, expected_hours__isnull=False),
                name="case_expected_draft_is_complete",
            ),
            models.CheckConstraint(condition=Q(attack_family="") | ~Q(attack_channel=""), name="case_attack_has_a_channel"),
            models.CheckConstraint(condition=~Q(benign=True) | Q(attack_family=""), name="case_benign_is_no_attack"),
        ]

    def __str__(self) -> str:
        return self.key


class CaseRevision(models.Model):
    """A frozen state of one case. Results point here. `content` pairs results across versions; `full_hash` is what a version freezes."""

    case = models.ForeignKey(Case, models.PROTECT, related_name="revisions", verbose_name="caso")
    content = models.JSONField("contenido")
    traits = models.JSONField("rasgos")
    content_hash = models.CharField("huella del contenido", max_length=64, db_index=True)
    full_hash = models.CharField("huella completa", max_length=64)
    created_at = models.DateTimeField("creada", auto_now_add=True)

    class Meta:
        verbose_name = "revisión"
        verbose_name_plural = "revisiones"
        ordering = ["case", "-id"]
        constraints = [models.UniqueConstraint(fields=["case", "full_hash"], name="revision_unique_per_case_and_hash")]

    def __str__(self) -> str:
        return f"{self.case_id}@{self.full_hash[:10]}"

    @property
    def key(self) -> str:
        return str(self.traits["key"])


class DatasetVersion(models.Model):
    """A numbered, frozen set of revisions."""

    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="versions", verbose_name="dataset")
    number = models.PositiveIntegerField("número")
    revisions = models.ManyToManyField(CaseRevision, related_name="versions", verbose_name="revisiones")
    content_hash = models.CharField("huella", max_length=64)
    size = models.PositiveIntegerField("casos")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+", verbose_name="congelada por"
    )
    created_at = models.DateTimeField("creada", auto_now_add=True)

    class Meta:
        verbose_name = "versión"
        verbose_name_plural = "versiones"
        ordering = ["dataset", "-number"]
        constraints = [models.UniqueConstraint(fields=["dataset", "number"], name="version_number_unique_in_dataset")]

    def __str__(self) -> str:
        return f"{self.dataset} v{self.number}"


class Signature(models.Model):
    """The word of the dataset's owner, or of a delegate, that a version is the exam. `health` is its report as it stood then."""

    version = models.OneToOneField(DatasetVersion, models.PROTECT, related_name="signature", verbose_name="versión")
    signed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", verbose_name="firmada por")
    signed_at = models.DateTimeField("firmada")
    reason = models.TextField("motivo")
    content_hash = models.CharField("huella firmada", max_length=64)
    health = models.JSONField("salud al firmar", null=True, blank=True)

    class Meta:
        verbose_name = "firma"
        verbose_name_plural = "firmas"
        constraints = [models.CheckConstraint(condition=~Q(reason=""), name="signature_has_a_reason")]

    def __str__(self) -> str:
        return f"{self.version} firmada por {self.signed_by}"


class Recording(models.Model):
    """A stored model output for a case, in a named set. Frozen: a correction is a new recording that supersedes this one."""

    case = models.ForeignKey(Case, models.PROTECT, related_name="recordings", verbose_name="caso")
    set_name = models.CharField("juego", max_length=40, default="base", validators=[key_validator])
    text = models.TextField("salida del modelo", blank=True)
    invalid = models.BooleanField(
        "inválida", null=True, help_text="Sí: nunca debe llegar a ser un borrador. Sin marcar: decide el oráculo."
    )
    origin = models.JSONField("origen", default=str)
    note = models.TextField("nota", blank=True)
    supersedes = models.OneToOneField(
        "self", models.PROTECT, null=True, blank=True, related_name="superseded_by", verbose_name="reemplaza a"
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+", verbose_name="autor")
    created_at = models.DateTimeField("creada", auto_now_add=True)

    class Meta:
        verbose_name = "grabación"
        verbose_name_plural = "grabaciones"
        ordering = ["case", "set_name", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["case", "set_name"], condition=Q(supersedes__isnull=True), name="recording_one_first_per_case_and_set"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.case} · {self.set_name}"


class HeldOutOpening(models.Model):
    """One time that a person opened a held-out case, and why. Each one makes its score worth a little less."""

    class Where(models.TextChoices):
        PAGE = "page", "en su página"
        EXPORT = "export", "en un archivo exportado"
        LET_GO = "let-go", "al dejar de ser reservado"

    case = models.ForeignKey(Case, models.PROTECT, related_name="openings", verbose_name="caso")
    opened_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", verbose_name="quién")
    opened_at = models.DateTimeField("cuándo", db_index=True)
    reason = models.TextField("motivo")
    where = models.CharField("dónde", max_length=8, choices=Where, default=Where.PAGE)

    class Meta:
        verbose_name = "apertura de un caso reservado"
        verbose_name_plural = "aperturas de casos reservados"
        ordering = ["-id"]
        constraints = [models.CheckConstraint(condition=~Q(reason=""), name="opening_has_a_reason")]

    def __str__(self) -> str:
        return f"{self.case} por {self.opened_by}"
