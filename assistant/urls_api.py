"""Addresses of the assistant below /api/v1/. Included before the bookings' own: `bookings/` here also notes what became of a proposal."""

from django.urls import path

from assistant import api

urlpatterns = [
    path("bookings/", api.AssistedBookingsView.as_view(), name="api-bookings"),
    path("assistant/proposals/", api.ProposalsView.as_view(), name="api-proposals"),
    path("assistant/proposals/<int:pk>/discard/", api.DiscardView.as_view(), name="api-proposal-discard"),
    path("assistant/proposals/<int:pk>/report/", api.ReportView.as_view(), name="api-proposal-report"),
]
