"""Addresses of the API, below /api/v1/."""

from django.urls import path

from bookings import api

urlpatterns = [
    path("courts/", api.CourtsView.as_view(), name="api-courts"),
    path("availability/", api.AvailabilityView.as_view(), name="api-availability"),
    path("bookings/", api.BookingsView.as_view(), name="api-bookings"),
    path("bookings/<int:pk>/", api.BookingView.as_view(), name="api-booking"),
    path("bookings/<int:pk>/cancel/", api.CancelBookingView.as_view(), name="api-booking-cancel"),
]
