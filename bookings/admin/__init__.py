"""The front desk: bookings by day, courts, members and blocks. Rows that take hours are written by the services, not by forms."""

from django.contrib import admin

from bookings.account_forms import AdminLogInForm
from bookings.admin.bookings import BookingAdmin
from bookings.admin.courts import CourtAdmin, CourtBlockAdmin
from bookings.admin.members import MemberAdmin

# The admin's login counts attempts as the neighbours' does: a limit on one door of two is none.
admin.site.login_form = AdminLogInForm

__all__ = ["BookingAdmin", "CourtAdmin", "CourtBlockAdmin", "MemberAdmin"]
