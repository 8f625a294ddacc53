"""Forms of the accounts' pages: who one is, how one gets in, and how one gets a new password."""

from typing import Any

from django import forms
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm, PasswordResetForm, SetPasswordForm
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from bookings.accounts import MAX_EMAIL, Profile, read_login_name, read_phone
from bookings.clock import now_in_lima
from bookings.logins import counted_guess
from bookings.models import Member
from bookings.rules import MAX_TEAM_NAME
from kallpa.counters import client_address

WRONG_PHONE = "Escribe un celular de nueve números que empiece con 9, por ejemplo 987 654 321."
WRONG_EMAIL = "Escribe tu correo completo, por ejemplo rosa@correo.pe."
TOO_LONG = "Aquí caben %(limit_value)d caracteres; escribiste %(show_value)d."
PASSWORD_HELP = "Ocho caracteres o más, que no sean solo números ni una palabra muy usada."  # noqa: S105 -- a sentence


class ProfileForm(forms.Form):
    """Who a member is."""

    name = forms.CharField(
        label="Nombre y apellido",
        max_length=Member._meta.get_field("name").max_length,
        widget=forms.TextInput({"autocomplete": "name"}),
        error_messages={"required": "Escribe tu nombre y apellido.", "max_length": TOO_LONG},
    )
    phone = forms.CharField(
        label="Celular",
        help_text="Solo lo ve la administración del complejo.",
        widget=forms.TextInput({"autocomplete": "tel-national", "inputmode": "tel", "maxlength": "30"}),
        error_messages={"required": WRONG_PHONE},
    )
    team_name = forms.CharField(
        label="Nombre de tu equipo",
        max_length=MAX_TEAM_NAME,
        required=False,
        help_text="Opcional. Sale en el horario cuando reservas.",
        widget=forms.TextInput({"autocomplete": "off"}),
        error_messages={"max_length": TOO_LONG},
    )

    def clean_phone(self) -> str:
        phone = read_phone(self.cleaned_data["phone"])
        if not phone:
            raise ValidationError(WRONG_PHONE)
        return phone

    @property
    def profile(self) -> Profile:
        """What a valid form says."""
        return Profile(*(self.cleaned_data[field] for field in ("name", "phone", "team_name")))


class SignUpForm(ProfileForm):
    """A new account. Who already has one is told so by the view."""

    email = forms.EmailField(
        label="Correo electrónico",
        max_length=MAX_EMAIL,
        help_text="Con él entras a tu cuenta.",
        widget=forms.EmailInput({"autocomplete": "username"}),
        error_messages={"required": WRONG_EMAIL, "invalid": WRONG_EMAIL, "max_length": TOO_LONG},
    )
    password = forms.CharField(
        label="Contraseña",
        strip=False,
        max_length=128,
        help_text=PASSWORD_HELP,
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
        error_messages={"required": "Elige una contraseña.", "max_length": TOO_LONG},
    )

    def clean_email(self) -> str:
        return read_login_name(self.cleaned_data["email"])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        email, name = cleaned.get("email", ""), cleaned.get("name", "")
        if "password" in cleaned:
            try:
                validate_password(cleaned["password"], User(username=email, email=email, first_name=name))
            except ValidationError as error:
                self.add_error("password", error)
        return cleaned


class LimitedLogin(AuthenticationForm):
    """Counts each guess, of the person and of the address, before it looks at the password."""

    def clean_username(self) -> str:
        return read_login_name(self.cleaned_data["username"])

    def clean(self) -> dict[str, Any]:
        if self.request is None or not self.cleaned_data.get("username"):
            return super().clean()
        person, address = self.cleaned_data["username"].lower(), client_address(self.request)
        with counted_guess(person=person, address=address, now=now_in_lima()):
            return super().clean()


class LogInForm(LimitedLogin):
    """The neighbours' door."""

    error_messages = {"invalid_login": "El correo o la contraseña no son correctos.", "inactive": "Esa cuenta está cerrada."}

    def __init__(self, request: HttpRequest | None = None, *args: Any, **options: Any) -> None:
        super().__init__(request, *args, **options)
        self.fields["username"].label = "Correo electrónico"
        self.fields["username"].widget.attrs |= {"inputmode": "email", "spellcheck": "false"}
        self.fields["username"].error_messages["required"] = "Escribe tu correo."
        self.fields["password"].error_messages["required"] = "Escribe tu contraseña."


class AdminLogInForm(LimitedLogin, AdminAuthenticationForm):
    """The desk's door, with the same limits."""


class NewPasswordForm(SetPasswordForm):
    """The password that replaces a forgotten one."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["new_password1"].help_text = PASSWORD_HELP
        for field in self.fields.values():
            field.error_messages["required"] = "Escribe la contraseña nueva."


class AskForPasswordForm(PasswordResetForm):
    """Where to send the link."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["email"].error_messages |= {"required": WRONG_EMAIL, "invalid": WRONG_EMAIL}
