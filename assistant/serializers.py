"""What the assistant's part of the API reads and shows."""

from typing import Any

from rest_framework import serializers

from assistant.drafts import Draft
from assistant.models import MAX_WORD, Interaction, Kind, UserReport
from assistant.selectors import find_free_court
from assistant.wording import tell, tell_draft
from bookings.rules import SPORT_CHOICES
from bookings.serializers import BookingRequestSerializer

TEXT = {"required": "Escribe qué quieres reservar.", "null": "Escribe qué quieres reservar.", "invalid": "Escribe un texto."}
WORD = {"invalid": "Escribe un texto.", "null": "Escribe un texto.", "max_length": f"Escribe como máximo {MAX_WORD} caracteres."}


class AskSerializer(serializers.Serializer):
    """Length and blanks are the pipeline's to judge: they are outcomes."""

    text = serializers.CharField(allow_blank=True, trim_whitespace=False, error_messages=TEXT)

    def validate_text(self, text: str) -> str:
        """A browser's form sends two characters for each line break that the person counts as one."""
        return text.replace("\r\n", "\n")


class ReportRequestSerializer(serializers.Serializer):
    word = serializers.CharField(required=False, allow_blank=True, default="", max_length=MAX_WORD, error_messages=WORD)


class DraftSerializer(serializers.Serializer):
    sport = serializers.ChoiceField(choices=SPORT_CHOICES)
    date = serializers.DateField()
    startHour = serializers.IntegerField()  # noqa: N815 -- the API's name
    hours = serializers.IntegerField()


class ProposalSerializer(serializers.ModelSerializer):
    """What came of one request, as its member sees it. It reads nothing, and it books nothing."""

    kind = serializers.ChoiceField(choices=Kind.choices, read_only=True)
    draft = DraftSerializer(read_only=True, allow_null=True)
    court = serializers.SerializerMethodField(help_text="Una cancha libre para el borrador, si queda alguna.")
    words = serializers.SerializerMethodField(help_text="El borrador en palabras.")
    question = serializers.CharField(read_only=True, help_text="Texto de un modelo: muéstralo como texto, nunca como HTML.")
    message = serializers.SerializerMethodField(help_text="Una frase en español para las personas.")
    followUp = serializers.CharField(source="follow_up", read_only=True)  # noqa: N815
    createdAt = serializers.DateTimeField(source="created_at", read_only=True)  # noqa: N815

    class Meta:
        model = Interaction
        fields = ["id", "kind", "draft", "court", "words", "question", "reason", "cause", "message", "followUp", "createdAt"]
        read_only_fields = fields

    def get_court(self, interaction: Interaction) -> int | None:
        court = interaction.draft and find_free_court(Draft.from_json(interaction.draft))
        return court.pk if court else None

    def get_words(self, interaction: Interaction) -> str:
        return tell_draft(Draft.from_json(interaction.draft)) if interaction.draft else ""

    def get_message(self, interaction: Interaction) -> str:
        return tell(interaction)


class ReportSerializer(serializers.ModelSerializer):
    createdAt = serializers.DateTimeField(source="created_at", read_only=True)  # noqa: N815 -- the API's name

    class Meta:
        model = UserReport
        fields = ["word", "createdAt"]
        read_only_fields = fields


class AssistedBookingRequestSerializer(BookingRequestSerializer):
    """For the schema: a booking may say which proposal it came from."""

    proposal = serializers.IntegerField(required=False, write_only=True, help_text="La propuesta que llenó el formulario, si la hubo.")


def read_proposal_id(value: Any) -> int | None:
    """A proposal's number as JSON or a form carries it; None for anything else: a booking does not fail because of it."""
    digits = str(value)
    is_number = isinstance(value, int | str) and digits.isascii() and digits.isdigit() and len(digits) <= 18
    return int(digits) if is_number else None
