"""The front desk: bookings by day, courts, members and blocks. Rows that take hours are written by the services, not by forms."""

from bookings.admin.bookings import BookingAdmin
from bookings.admin.courts import CourtAdmin, CourtBlockAdmin
from bookings.admin.members import MemberAdmin

__all__ = ["BookingAdmin", "CourtAdmin", "CourtBlockAdmin", "MemberAdmin"]
