"""Where the mention check is on, a run of the desk measures it as people meet it."""

import pytest

from evals.runner import WrongHelper, work
from evals.tests.desk import draft_output, draft_row, finished_run, make_version, new_run, outcome_in, surroundings

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_run_checks_mentions_as_production_does(settings):
    version = make_version([draft_row("otro-deporte", draft_output(sport="voley"))])
    plain = finished_run(version)
    settings.ASSISTANT_MENTION_CHECK = True
    checked = finished_run(version)
    assert [outcome_in(run, "otro-deporte").kind for run in (plain, checked)] == ["draft", "clarify"]
    assert plain.prompt_hash != checked.prompt_hash


def test_a_helper_without_it_does_not_go_on_with_such_a_run(settings):
    settings.ASSISTANT_MENTION_CHECK = True
    run = new_run(make_version([draft_row("a")]))
    settings.ASSISTANT_MENTION_CHECK = False
    with pytest.raises(WrongHelper):
        work(run.pk, surroundings())
