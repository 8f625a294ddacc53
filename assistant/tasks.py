"""What Celery's beat asks of the assistant. Every task may run twice."""

from celery import shared_task
from django.utils import timezone

from assistant import agent_runs, breaker, ledger, services
from assistant.canary import send_canary


@shared_task
def prune_interactions() -> None:
    """Deletes the uses of the assistant that are older than the settings allow."""
    services.prune_interactions(now=timezone.now())


@shared_task
def prune_agent_runs() -> None:
    """Deletes the uses of the agent that are older than the settings allow."""
    agent_runs.prune_agent_runs(now=timezone.now())


@shared_task
def canary() -> None:
    """Asks the model one tiny thing. Twice is two tiny calls."""
    send_canary(now=timezone.now())


@shared_task
def prune_calls() -> None:
    """Deletes the calls of the ledger that are older than the settings allow."""
    ledger.prune_calls(now=timezone.now())


@shared_task
def end_silent_alarms() -> None:
    """Ends the incidents of models that nobody asks any more."""
    breaker.end_silent_alarms(now=timezone.now())
