import os
from importlib import import_module

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kallpa.settings")

application = get_asgi_application()
import_module("kallpa.urls")  # every page is loaded before the first visitor comes
