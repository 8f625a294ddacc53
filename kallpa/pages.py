"""The front door."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def home(request: HttpRequest) -> HttpResponse:
    """Says what this site is and leads to the desk."""
    return render(request, "home.html")
