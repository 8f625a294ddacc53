from django.urls import path

from assistant import watching

urlpatterns = [path("", watching.metrics, name="metrics")]
