from django.contrib import admin
from django.urls import include, path

from kallpa import health

admin.site.site_header = "Kallpa"
admin.site.site_title = "Kallpa"
admin.site.index_title = "Mesa de evaluación y complejo"

urlpatterns = [
    path("", include("bookings.urls")),
    path("admin/", admin.site.urls),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
]
