"""The Celery application. The database is the queue of record: a message only says "go and help with run 42"."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kallpa.settings")

app = Celery("kallpa")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.visibility_timeout = app.conf.broker_transport_options["visibility_timeout"]
app.conf.result_backend_transport_options = dict(app.conf.broker_transport_options)
app.autodiscover_tasks(["kallpa", "assistant", "evals"])
