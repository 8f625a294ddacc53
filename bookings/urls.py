"""Addresses of the neighbours' pages, in Spanish."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from bookings import account_views, views

urlpatterns = [
    path("", views.show_day, name="day"),
    path("mis-reservas/", views.show_my_bookings, name="my_bookings"),
    path("reservas/<int:booking_id>/cancelar/", views.cancel_booking, name="cancel_booking"),
    path("cuenta/crear/", account_views.sign_up, name="sign_up"),
    path("cuenta/entrar/", account_views.LogIn.as_view(), name="log_in"),
    path("cuenta/salir/", LogoutView.as_view(), name="log_out"),
    path("cuenta/datos/", account_views.edit_profile, name="profile"),
    path("cuenta/clave/", account_views.AskForPassword.as_view(), name="password_reset"),
    path("cuenta/clave/enviada/", account_views.PasswordSent.as_view(), name="password_sent"),
    path("cuenta/clave/<uidb64>/<token>/", account_views.ChoosePassword.as_view(), name="password_reset_confirm"),
]
