"""Members, courts, bookings and the hours they take. The database holds the rules that never depend on the clock."""

import datetime as dt

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Length
from django.db.models.lookups import LessThanOrEqual

from bookings.clock import LIMA
from bookings.rules import CLOSES_AT, MAX_CENTIMOS_PER_HOUR, MAX_HOURS, MAX_TEAM_NAME, MIN_HOURS, OPENS_AT, SPORT_CHOICES, Sport


class Member(models.Model):
    """A neighbour who books. The account is optional: the front desk also writes down people without one."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, verbose_name="cuenta", null=True, blank=True, on_delete=models.SET_NULL, related_name="member"
    )
    name = models.CharField("nombre", max_length=120)
    phone = models.CharField("celular", max_length=20, blank=True)
    team_name = models.CharField("equipo", max_length=MAX_TEAM_NAME, blank=True)

    class Meta:
        verbose_name = "miembro"
        verbose_name_plural = "miembros"
        ordering = ["name", "pk"]
        constraints = [
            models.CheckConstraint(name="member_team_name_fits", condition=LessThanOrEqual(Length("team_name"), MAX_TEAM_NAME)),
        ]

    def __str__(self) -> str:
        return self.name


class Court(models.Model):
    """A court serves one sport. Prices are whole céntimos of sol."""

    name = models.CharField("nombre", max_length=80, unique=True)
    sport = models.CharField("deporte", max_length=20, choices=SPORT_CHOICES)
    price_centimos_per_hour = models.PositiveIntegerField("precio por hora (céntimos)")
    active = models.BooleanField("activa", default=True)

    class Meta:
        verbose_name = "cancha"
        verbose_name_plural = "canchas"
        ordering = ["sport", "name"]
        constraints = [
            models.CheckConstraint(name="court_sport_is_known", condition=Q(sport__in=[sport.value for sport in Sport])),
            models.CheckConstraint(
                name="court_price_in_range",
                condition=Q(price_centimos_per_hour__gte=0, price_centimos_per_hour__lte=MAX_CENTIMOS_PER_HOUR),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class BookingStatus(models.TextChoices):
    CONFIRMED = "confirmed", "Confirmada"
    CANCELLED = "cancelled", "Cancelada"


class Booking(models.Model):
    """Who plays where and when. A cancelled booking stays, without its hours."""

    court = models.ForeignKey(Court, verbose_name="cancha", on_delete=models.PROTECT, related_name="bookings")
    member = models.ForeignKey(Member, verbose_name="miembro", on_delete=models.PROTECT, related_name="bookings")
    date = models.DateField("fecha")
    start_hour = models.PositiveSmallIntegerField("hora de inicio")
    hours = models.PositiveSmallIntegerField("horas")
    team_name = models.CharField("equipo", max_length=MAX_TEAM_NAME, blank=True)
    price_centimos = models.PositiveIntegerField("precio (céntimos)")
    status = models.CharField("estado", max_length=10, choices=BookingStatus.choices, default=BookingStatus.CONFIRMED)
    created_at = models.DateTimeField("creada")
    cancelled_at = models.DateTimeField("cancelada", null=True, blank=True)

    class Meta:
        verbose_name = "reserva"
        verbose_name_plural = "reservas"
        permissions = [("export_booking", "Puede exportar reservas")]
        ordering = ["-date", "-start_hour", "-pk"]
        constraints = [
            models.CheckConstraint(name="booking_starts_while_open", condition=Q(start_hour__gte=OPENS_AT, start_hour__lt=CLOSES_AT)),
            models.CheckConstraint(name="booking_hours_in_range", condition=Q(hours__gte=MIN_HOURS, hours__lte=MAX_HOURS)),
            models.CheckConstraint(name="booking_ends_by_closing", condition=Q(start_hour__lte=CLOSES_AT - F("hours"))),
            models.CheckConstraint(name="booking_price_is_not_negative", condition=Q(price_centimos__gte=0)),
            models.CheckConstraint(name="booking_team_name_fits", condition=LessThanOrEqual(Length("team_name"), MAX_TEAM_NAME)),
            models.CheckConstraint(
                name="booking_cancelled_has_a_time",
                condition=Q(status=BookingStatus.CONFIRMED, cancelled_at__isnull=True)
                | Q(status=BookingStatus.CANCELLED, cancelled_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.court}, {self.date:%d/%m/%Y}, {self.start_hour} a {self.end_hour} h"

    @property
    def end_hour(self) -> int:
        return self.start_hour + self.hours

    @property
    def starts_at(self) -> dt.datetime:
        return dt.datetime.combine(self.date, dt.time(self.start_hour), tzinfo=LIMA)


class CourtBlock(models.Model):
    """Hours in which a court is out of use, say for maintenance. It takes them as a booking does; lifting it deletes the row."""

    court = models.ForeignKey(Court, verbose_name="cancha", on_delete=models.PROTECT, related_name="blocks")
    date = models.DateField("fecha")
    start_hour = models.PositiveSmallIntegerField("hora de inicio")
    hours = models.PositiveSmallIntegerField("horas")
    reason = models.CharField("motivo", max_length=120, blank=True)
    created_at = models.DateTimeField("creado")

    class Meta:
        verbose_name = "bloqueo de cancha"
        verbose_name_plural = "bloqueos de cancha"
        ordering = ["-date", "-start_hour", "-pk"]
        constraints = [
            models.CheckConstraint(name="block_starts_while_open", condition=Q(start_hour__gte=OPENS_AT, start_hour__lt=CLOSES_AT)),
            models.CheckConstraint(name="block_lasts_an_hour_or_more", condition=Q(hours__gte=1)),
            models.CheckConstraint(name="block_ends_by_closing", condition=Q(start_hour__lte=CLOSES_AT - F("hours"))),
        ]

    def __str__(self) -> str:
        return f"{self.court}, {self.date:%d/%m/%Y}, {self.start_hour} a {self.end_hour} h"

    @property
    def end_hour(self) -> int:
        return self.start_hour + self.hours


class BookedHour(models.Model):
    """One taken hour of one court, held by a booking or by a block. The unique constraint decides who was first."""

    booking = models.ForeignKey(Booking, verbose_name="reserva", null=True, on_delete=models.CASCADE, related_name="booked_hours")
    block = models.ForeignKey(CourtBlock, verbose_name="bloqueo", null=True, on_delete=models.CASCADE, related_name="booked_hours")
    court = models.ForeignKey(Court, verbose_name="cancha", on_delete=models.PROTECT, related_name="booked_hours")
    date = models.DateField("fecha")
    hour = models.PositiveSmallIntegerField("hora")

    class Meta:
        verbose_name = "hora reservada"
        verbose_name_plural = "horas reservadas"
        ordering = ["date", "hour", "court"]
        constraints = [
            models.UniqueConstraint(name="one_booking_per_court_date_hour", fields=["court", "date", "hour"]),
            models.CheckConstraint(name="booked_hour_while_open", condition=Q(hour__gte=OPENS_AT, hour__lt=CLOSES_AT)),
            models.CheckConstraint(
                name="booked_hour_has_one_holder",
                condition=Q(booking__isnull=False, block__isnull=True) | Q(booking__isnull=True, block__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.court}, {self.date:%d/%m/%Y}, {self.hour} h"
