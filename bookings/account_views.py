"""Pages of an account: make one, get in and out, say who one is, choose a new password."""

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth import views as auth_views
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render, resolve_url
from django.urls import reverse_lazy
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from bookings.account_forms import AskForPasswordForm, LogInForm, NewPasswordForm, ProfileForm, SignUpForm
from bookings.accounts import EmailTaken, create_account, save_profile
from bookings.clock import now_in_lima
from bookings.logins import RESET_PER_ADDRESS, RESET_PER_PERSON, SIGN_UP_PER_ADDRESS, TOO_MANY, check_attempts
from bookings.selectors import find_member
from kallpa.counters import client_address


@sensitive_post_parameters("password")
@never_cache
def sign_up(request: HttpRequest) -> HttpResponse:
    """Makes an account and its member, and goes on where the person was (`next`)."""
    if request.user.is_authenticated:
        return redirect("day")
    form = SignUpForm(request.POST or None)
    account = _make_account(request, form) if form.is_valid() else None
    if account is None:
        context = {"form": form, "next": request.POST.get("next", request.GET.get("next", ""))}
        return render(request, "accounts/sign_up.html", context, status=_status(form))
    login(request, account)
    messages.success(request, f"Tu cuenta está lista, {form.profile.name}. Ya puedes reservar.")
    return redirect(_next_page(request))


def _make_account(request: HttpRequest, form: SignUpForm) -> User | None:
    try:
        check_attempts((SIGN_UP_PER_ADDRESS, client_address(request)), now=now_in_lima())
        return create_account(email=form.cleaned_data["email"], password=form.cleaned_data["password"], profile=form.profile)
    except ValidationError as error:
        form.add_error(None, error)
    except EmailTaken:
        form.add_error("email", "Ya hay una cuenta con ese correo. Entra con ella, o pide una contraseña nueva si la olvidaste.")
    return None


def _next_page(request: HttpRequest) -> str:
    wanted = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure())
    return wanted if is_ours else resolve_url("day")


def _status(form: Form) -> int:
    return 429 if form.has_error(NON_FIELD_ERRORS, TOO_MANY) else 200


class LogIn(auth_views.LoginView):
    """Gets in with e-mail and password; too many attempts are answered 429."""

    template_name = "accounts/log_in.html"
    authentication_form = LogInForm
    redirect_authenticated_user = True

    def form_invalid(self, form: Any) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=_status(form))


@login_required
@never_cache
def edit_profile(request: HttpRequest) -> HttpResponse:
    """Who the account belongs to; staff writes itself down here before it books."""
    account = cast(User, request.user)
    member = find_member(account)
    known = {"name": member.name, "phone": member.phone, "team_name": member.team_name} if member else {}
    form = ProfileForm(request.POST or None, initial=known)
    if not form.is_valid():
        return render(request, "accounts/profile.html", {"form": form, "member": member})
    save_profile(account=account, profile=form.profile)
    messages.success(request, "Guardamos tus datos.")
    return redirect("profile")


class AskForPassword(auth_views.PasswordResetView):
    """Mails a link. The answer is the same whether or not the address has an account."""

    template_name = "accounts/password.html"
    email_template_name = "accounts/password_email.txt"
    subject_template_name = "accounts/password_subject.txt"
    form_class = AskForPasswordForm
    success_url = reverse_lazy("password_sent")

    def form_valid(self, form: Any) -> HttpResponse:
        attempts = (RESET_PER_ADDRESS, client_address(self.request)), (RESET_PER_PERSON, form.cleaned_data["email"].lower())
        try:
            check_attempts(*attempts, now=now_in_lima())
        except ValidationError as error:
            form.add_error(None, error)
            return self.render_to_response(self.get_context_data(form=form), status=_status(form))
        return super().form_valid(form)


class PasswordSent(auth_views.PasswordResetDoneView):
    """Says to look at one's mail."""

    template_name = "accounts/password_sent.html"


class ChoosePassword(auth_views.PasswordResetConfirmView):
    """The page behind the mailed link: a new password, and the person is in."""

    template_name = "accounts/password_new.html"
    form_class = NewPasswordForm
    success_url = reverse_lazy("day")
    post_reset_login = True

    def form_valid(self, form: Any) -> HttpResponseRedirect:
        messages.success(self.request, "Tu contraseña nueva está lista.")
        return cast(HttpResponseRedirect, super().form_valid(form))
