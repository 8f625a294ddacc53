"""Addresses of the neighbours' pages, in Spanish."""

from django.urls import path

from bookings import views

urlpatterns = [
    path("", views.show_day, name="day"),
]
