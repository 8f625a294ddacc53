"""What the desk's runs spend in a day, all of them together."""

from django.db import models


class DaySpending(models.Model):
    """One day of Lima: micro-USD that calls of runs have cost, and that calls in flight may cost at most.

    What a process reserved that died in the middle of a call stays: the provider may charge for it.
    """

    day = models.DateField("día", unique=True)
    micro_usd = models.PositiveBigIntegerField("gastado o reservado (micro-USD)", default=0)

    class Meta:
        verbose_name = "gasto de un día"
        verbose_name_plural = "gasto por día"
        ordering = ["-day"]

    def __str__(self) -> str:
        return f"{self.day:%d/%m/%Y}"
