import os
from importlib import import_module

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kallpa.settings")

application = get_wsgi_application()
import_module("kallpa.urls")  # every page is loaded before the first visitor comes
