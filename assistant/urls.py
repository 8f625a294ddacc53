"""Addresses of the assistant's own pages, in Spanish."""

from django.urls import path

from assistant import views

urlpatterns = [
    path("asistente/equipo/", views.agent, name="agent"),
    path("asistente/equipo/<int:pk>/", views.agent_run, name="agent_run"),
]
