from django.contrib import admin
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView

from kallpa import health

admin.autodiscover()
admin.site.site_header = "Kallpa"
admin.site.site_title = "Kallpa"
admin.site.index_title = "Mesa de evaluación y complejo"

urlpatterns = [
    path("", include("bookings.urls")),
    path("", include("assistant.urls")),
    path("api/v1/schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("api/v1/", include("assistant.urls_api")),
    path("api/v1/", include("bookings.urls_api")),
    path("admin/", admin.site.urls),
    path("metrics", include("assistant.urls_metrics")),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
]
