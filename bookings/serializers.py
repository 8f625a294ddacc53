"""What the API reads and shows. The rules are not here: these say only whether a value can be read at all."""

from typing import Any

from rest_framework import serializers

from bookings.models import Booking, Court
from bookings.rules import SPORT_CHOICES
from bookings.values import BookingRequest

DATE = dict.fromkeys(["required", "null", "invalid", "datetime"], "Elige la fecha, escrita como 2026-03-10.")
TEXT = {"invalid": "Escribe un texto.", "null": "Escribe un texto.", "blank": "Falta este dato."}


def _whole_number(sentence: str) -> serializers.IntegerField:
    return serializers.IntegerField(error_messages=dict.fromkeys(["required", "null", "invalid", "max_string_length"], sentence))


class CourtSerializer(serializers.ModelSerializer):
    pricePerHourCentimos = serializers.IntegerField(source="price_centimos_per_hour", read_only=True)  # noqa: N815 -- the API's name

    class Meta:
        model = Court
        fields = ["id", "name", "sport", "pricePerHourCentimos"]


class BookingSerializer(serializers.ModelSerializer):
    courtName = serializers.CharField(source="court.name", read_only=True)  # noqa: N815
    sport = serializers.ChoiceField(source="court.sport", choices=SPORT_CHOICES, read_only=True)
    startHour = serializers.IntegerField(source="start_hour", read_only=True)  # noqa: N815
    endHour = serializers.IntegerField(source="end_hour", read_only=True)  # noqa: N815
    teamName = serializers.CharField(source="team_name", read_only=True)  # noqa: N815
    priceCentimos = serializers.IntegerField(source="price_centimos", read_only=True)  # noqa: N815
    createdAt = serializers.DateTimeField(source="created_at", read_only=True)  # noqa: N815
    cancelledAt = serializers.DateTimeField(source="cancelled_at", read_only=True, allow_null=True)  # noqa: N815

    class Meta:
        model = Booking
        fields = [
            "id",
            "court",
            "courtName",
            "sport",
            "date",
            "startHour",
            "hours",
            "endHour",
            "teamName",
            "priceCentimos",
            "status",
            "createdAt",
            "cancelledAt",
        ]
        read_only_fields = fields


# Who asks is the session's to say, the price the court's: there are no such fields.
class BookingRequestSerializer(serializers.Serializer):
    court = _whole_number("Elige la cancha.")
    sport = serializers.CharField(required=False, allow_blank=True, default="", error_messages=TEXT, help_text="Si falta, el de la cancha.")
    date = serializers.DateField(error_messages=DATE)
    startHour = _whole_number("Elige la hora en que empieza.")  # noqa: N815
    hours = _whole_number("Elige cuántas horas.")
    teamName = serializers.CharField(required=False, allow_blank=True, default="", error_messages=TEXT)  # noqa: N815
    idempotencyKey = serializers.CharField(required=False, write_only=True, help_text="Lo mismo que la cabecera.")  # noqa: N815

    def validate_court(self, court_id: int) -> Court:
        court = Court.objects.filter(pk=court_id).first()
        if court is None:
            raise serializers.ValidationError("Esa cancha no existe.")
        return court

    def as_request(self) -> BookingRequest:
        """What was asked, once `is_valid`."""
        asked: dict[str, Any] = self.validated_data
        sport = asked["sport"] or asked["court"].sport
        return BookingRequest(sport, asked["date"], asked["startHour"], asked["hours"], asked["teamName"])


class AvailabilityQuery(serializers.Serializer):
    date = serializers.DateField(required=False, error_messages=DATE, help_text="Hoy si falta.")
    sport = serializers.ChoiceField(
        choices=SPORT_CHOICES,
        required=False,
        error_messages={"invalid_choice": "Ese deporte no se juega aquí."},
        help_text="Todos si falta.",
    )


class FreeHourSerializer(serializers.Serializer):
    hour = serializers.IntegerField(help_text="Hora en que empieza, en Lima.")
    free = serializers.BooleanField(help_text="Se puede reservar ahora.")


class CourtHoursSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    name = serializers.CharField()
    sport = serializers.ChoiceField(choices=SPORT_CHOICES)
    hours = FreeHourSerializer(many=True)


class AvailabilitySerializer(serializers.Serializer):
    date = serializers.DateField()
    courts = CourtHoursSerializer(many=True)
