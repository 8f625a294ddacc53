"""Every setting of Kallpa, read from the environment once, here. `.env.example` explains each variable."""

import os
from decimal import Decimal
from pathlib import Path
from tempfile import gettempdir
from urllib.parse import quote, urlsplit

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent
INSECURE_DEV_KEY = "django-insecure-only-for-a-laptop-never-for-a-server"


def _text(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def _flag(name: str, default: bool) -> bool:
    value = _text(name).lower()
    if value in {"", "1", "true", "yes", "on", "0", "false", "no", "off"}:
        return value in {"1", "true", "yes", "on"} if value else default
    raise ImproperlyConfigured(f"{name}={value!r} is not a yes or a no: set it to 1 or 0.")


def _number(name: str, default: str, *, low: str, high: str) -> Decimal:
    raw = _text(name, default)
    try:
        value = Decimal(raw)
    except ArithmeticError:
        raise ImproperlyConfigured(f"{name}={raw!r} is not a number: set it between {low} and {high}.") from None
    if not value.is_finite() or not Decimal(low) <= value <= Decimal(high):
        raise ImproperlyConfigured(f"{name}={raw!r} is out of range: set it between {low} and {high}.")
    return value


def _whole(name: str, default: str, *, low: str, high: str) -> int:
    value = _number(name, default, low=low, high=high)
    if value != int(value):
        raise ImproperlyConfigured(f"{name}={value} is not a whole number: set it between {low} and {high}.")
    return int(value)


def _words(name: str) -> list[str]:
    return [word.strip() for word in _text(name).split(",") if word.strip()]


def _url(name: str, *schemes: str) -> str:
    """The address in a variable, or "". It may hold a password, so the message never repeats it."""
    url = _text(name)
    try:
        parts = urlsplit(url)
        right = parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        right = False
    if url and not right:
        raise ImproperlyConfigured(f"{name} is not an address of this kind: set it like {schemes[-1]}://host:port/path.")
    return url


def _database(default: str) -> dj_database_url.DBConfig:
    url = _text("DATABASE_URL", default)
    try:
        if url.partition("://")[0] not in {"sqlite", "postgres", "postgresql"}:
            raise ValueError("another kind of database")
        return dj_database_url.parse(url, conn_max_age=60, conn_health_checks=True)
    except ValueError:
        raise ImproperlyConfigured(
            "DATABASE_URL is not understood: set it like postgres://user:password@host:5432/name or sqlite:///file."
        ) from None


# --- The site -----------------------------------------------------------------------------------------------------------

DEBUG = _flag("DEBUG", True)
SECRET_KEY = _text("SECRET_KEY", INSECURE_DEV_KEY if DEBUG else "")
if not DEBUG and (len(SECRET_KEY) < 50 or SECRET_KEY.startswith("django-insecure-")):
    raise ImproperlyConfigured("DEBUG is off and SECRET_KEY is empty, short or the laptop's: set it to at least 50 random characters.")
ALLOWED_HOSTS = _words("ALLOWED_HOSTS") or (["localhost", "127.0.0.1", "[::1]"] if DEBUG else [])
if not ALLOWED_HOSTS:
    raise ImproperlyConfigured("ALLOWED_HOSTS is empty and DEBUG is off: set it to the site's host names, separated by commas.")
CSRF_TRUSTED_ORIGINS = _words("CSRF_TRUSTED_ORIGINS")

INSTALLED_APPS = [
    "kallpa",
    "bookings",
    "assistant",
    "evals",
    "kallpa.admin_pages.AdminPagesConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "import_export",
    "simple_history",
]
MIDDLEWARE = [
    "kallpa.csp.ContentSecurityPolicyMiddleware",  # first: redirects to https and static files carry the policy too
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "kallpa.busy.BusyDatabaseMiddleware",
]
ROOT_URLCONF = "kallpa.urls"
WSGI_APPLICATION = "kallpa.wsgi.application"
ASGI_APPLICATION = "kallpa.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "log_in"
LOGIN_REDIRECT_URL = LOGOUT_REDIRECT_URL = "day"
PASSWORD_RESET_TIMEOUT = 24 * 60 * 60  # the mail says one day
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Language and time: Spanish of Peru, `1,234.50`, the clock of Lima --------------------------------------------------

LANGUAGE_CODE = "es-pe"
LANGUAGES = [("es-pe", "Español (Perú)")]
USE_I18N = True
USE_THOUSAND_SEPARATOR = True
FORMAT_MODULE_PATH = "kallpa.formats"
TIME_ZONE = "America/Lima"
USE_TZ = True

# --- The API ------------------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.SessionAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["kallpa.parsers.StrictJSONParser"],
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
    "PAGE_SIZE": 50,
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "kallpa.problems.answer_problem",
    "COERCE_DECIMAL_TO_STRING": False,
}
IDEMPOTENCY_HOURS = _whole("IDEMPOTENCY_HOURS", "24", low="24", high="720")
SPECTACULAR_SETTINGS = {
    "TITLE": "Kallpa",
    "DESCRIPTION": "Canchas, disponibilidad, reservas y el asistente.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
}

# --- Static files -------------------------------------------------------------------------------------------------------

STATIC_URL = "static/"
STATICFILES_DIRS = [("guia", BASE_DIR / "docs" / "img")]  # the expert's guide is read in the admin too
STATIC_ROOT = Path(_text("STATIC_ROOT", str(BASE_DIR / "staticfiles")))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}

# --- Security headers and cookies ---------------------------------------------------------------------------------------

SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
HTTPS_ONLY = _flag("HTTPS_ONLY", not DEBUG)
SECURE_SSL_REDIRECT = HTTPS_ONLY
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS_ONLY else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS_ONLY
SECURE_HSTS_PRELOAD = HTTPS_ONLY
SESSION_COOKIE_SECURE = HTTPS_ONLY
CSRF_COOKIE_SECURE = HTTPS_ONLY
SESSION_COOKIE_HTTPONLY = True
CSRF_COOKIE_HTTPONLY = True
if _flag("BEHIND_TLS_PROXY", False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
TRUSTED_PROXIES = _whole("TRUSTED_PROXIES", "0", low="0", high="10")

DEFAULT_EXCEPTION_REPORTER_FILTER = "kallpa.error_reports.PrivateReporterFilter"

# --- Database: SQLite by default, PostgreSQL in production --------------------------------------------------------------

DATABASE_IDLE_S = _whole("DATABASE_IDLE_S", "180", low="0", high="86400")
DATABASES = {"default": _database(f"sqlite:///{quote(str(BASE_DIR / 'kallpa.sqlite3'))}")}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["CONN_MAX_AGE"] = 0
    # A file, not memory: helpers in several threads must meet the locks that they meet in production.
    DATABASES["default"]["TEST"] = {"NAME": Path(gettempdir()) / f"kallpa-test-{os.getpid()}.sqlite3"}
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
    }
elif DATABASE_IDLE_S:
    # A process that is stopped within a transaction keeps its locks; the server ends its session, and others go on.
    _given = DATABASES["default"].get("OPTIONS", {})
    _idle = f"-c idle_in_transaction_session_timeout={DATABASE_IDLE_S}s"
    DATABASES["default"]["OPTIONS"] = _given | {"options": f"{_given.get('options', '')} {_idle}".strip()}

# --- Cache, queue -------------------------------------------------------------------------------------------------------

REDIS_URL = _url("REDIS_URL", "rediss", "redis")
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1},  # a Redis that hangs must not hold a web request for ever
    }
    if REDIS_URL
    else {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 200_000},  # counters live here: at 300, the default, strangers would push a person's out
    }
}

CELERY_BROKER_URL = _url("CELERY_BROKER_URL", "rediss", "redis")  # empty: no broker, the web process helps in daemon threads
CELERY_VISIBILITY_TIMEOUT_S = _whole("CELERY_VISIBILITY_TIMEOUT_S", "600", low="10", high="86400")
# The limits must stay ordered soft < hard < visibility: a task that outlives the visibility timeout is delivered twice.
CELERY_TASK_SOFT_TIME_LIMIT = CELERY_VISIBILITY_TIMEOUT_S * 6 // 10
CELERY_TASK_TIME_LIMIT = CELERY_VISIBILITY_TIMEOUT_S * 8 // 10
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": CELERY_VISIBILITY_TIMEOUT_S,
    "socket_connect_timeout": 2,
    "socket_timeout": 3,  # a Redis that accepts and never answers must not hold a web request for ever
}
CELERY_RESULT_BACKEND = None
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 20
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TIMEZONE = TIME_ZONE
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_TIMEOUT = 2
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0, "interval_step": 0.2, "interval_max": 0.2}
CELERY_BEAT_SCHEDULE = {
    "sweep-runs": {"task": "evals.tasks.sweep_runs", "schedule": float(_whole("EVALS_SWEEP_S", "60", low="1", high="3600"))},
    "forget-imports": {"task": "evals.tasks.forget_imports", "schedule": 3600.0},
    "prune": {"task": "kallpa.tasks.prune", "schedule": 3600.0},
    "end-silent-alarms": {"task": "assistant.tasks.end_silent_alarms", "schedule": 3600.0},
    "prune-interactions": {"task": "assistant.tasks.prune_interactions", "schedule": 3600.0},
    "prune-agent-runs": {"task": "assistant.tasks.prune_agent_runs", "schedule": 3600.0},
    "prune-calls": {"task": "assistant.tasks.prune_calls", "schedule": 3600.0},
}

# --- E-mail: printed on the console until a server is named -------------------------------------------------------------

EMAIL_HOST = _text("EMAIL_HOST")
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if EMAIL_HOST else 'console'}.EmailBackend"
EMAIL_PORT = _whole("EMAIL_PORT", "587", low="1", high="65535")
EMAIL_USE_TLS = _flag("EMAIL_USE_TLS", True)
EMAIL_HOST_USER = _text("EMAIL_HOST_USER")
EMAIL_HOST_PASSWORD = _text("EMAIL_HOST_PASSWORD")
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = _text("DEFAULT_FROM_EMAIL", "Kallpa <no-responder@localhost>")

# --- Alerts: who outside is told that an incident opened, and that it is over ------------------------------------------

ALERT_EMAILS = _words("ALERT_EMAILS")
for _address in ALERT_EMAILS:
    if not 0 < _address.find("@") < len(_address) - 1:
        raise ImproperlyConfigured(f"ALERT_EMAILS={_address!r} is not an address: set it to e-mail addresses, separated by commas.")
ALERT_WEBHOOK_URL = _url("ALERT_WEBHOOK_URL", "http", "https")

# --- The model ----------------------------------------------------------------------------------------------------------

LLM_BASE_URL = _url("LLM_BASE_URL", "http", "https")
LLM_MODEL = _text("LLM_MODEL")
LLM_API_KEY = _text("LLM_API_KEY")
LLM_TEMPERATURE = float(_number("LLM_TEMPERATURE", "0", low="0", high="2"))
LLM_MAX_TOKENS = _whole("LLM_MAX_TOKENS", "200", low="1", high="100000")
LLM_JSON_SCHEMA = _flag("LLM_JSON_SCHEMA", False)
LLM_TIMEOUT_S = float(_number("LLM_TIMEOUT_S", "20", low="0.1", high="300"))

BREAKER_FAILURES = _whole("BREAKER_FAILURES", "5", low="1", high="1000")
BREAKER_WINDOW_S = _whole("BREAKER_WINDOW_S", "60", low="6", high="3600")
BREAKER_OPEN_S = _whole("BREAKER_OPEN_S", "30", low="1", high="3600")

CANARY_EVERY_S = _whole("CANARY_EVERY_S", "900", low="0", high="86400")
if CANARY_EVERY_S and LLM_BASE_URL and LLM_MODEL:
    CELERY_BEAT_SCHEDULE["canary"] = {
        "task": "assistant.tasks.canary",
        "schedule": float(CANARY_EVERY_S),
        "options": {"expires": CANARY_EVERY_S},  # a worker that comes back late asks once, not once for each it missed
    }

OUTBOUND_ALLOW_LOOPBACK = _flag("OUTBOUND_ALLOW_LOOPBACK", DEBUG)
OUTBOUND_ALLOW_PRIVATE = _flag("OUTBOUND_ALLOW_PRIVATE", False)
OUTBOUND_ALLOWED_HOSTS = _words("OUTBOUND_ALLOWED_HOSTS")
for _ours in (LLM_BASE_URL, ALERT_WEBHOOK_URL):
    if _ours:
        OUTBOUND_ALLOWED_HOSTS = [*OUTBOUND_ALLOWED_HOSTS, urlsplit(_ours).netloc.rpartition("@")[2]]

# What /readyz tells besides the database: functions that give a JSON object and never raise.
READY_REPORTS = {"model": "assistant.health.report_model"}

# --- The assistant ------------------------------------------------------------------------------------------------------

ASSISTANT_PER_MINUTE = _whole("ASSISTANT_PER_MINUTE", "10", low="1", high="1000")
ASSISTANT_PER_DAY = _whole("ASSISTANT_PER_DAY", "100", low="1", high="100000")
ASSISTANT_DAILY_BUDGET_USD = _number("ASSISTANT_DAILY_BUDGET_USD", "1.00", low="0", high="10000")
ASSISTANT_CONCURRENCY = _whole("ASSISTANT_CONCURRENCY", "4", low="1", high="256")
ASSISTANT_QUICK = _flag("ASSISTANT_QUICK", False)
ASSISTANT_MENTION_CHECK = _flag("ASSISTANT_MENTION_CHECK", False)
AGENT_MCP_SERVERS = _words("AGENT_MCP_SERVERS")
AGENT_MCP_TOKENS = dict(word.partition("=")[::2] for word in _words("AGENT_MCP_TOKENS"))
if not all(AGENT_MCP_TOKENS.values()):
    raise ImproperlyConfigured("AGENT_MCP_TOKENS is not understood: set it like name=token, one for each server, separated by commas.")
AGENT_DAILY_BUDGET_USD = _number("AGENT_DAILY_BUDGET_USD", "1.00", low="0", high="10000")
AGENT_PER_MINUTE = _whole("AGENT_PER_MINUTE", "5", low="1", high="1000")
AGENT_PER_DAY = _whole("AGENT_PER_DAY", "100", low="1", high="100000")
AGENT_MAX_STEPS = _whole("AGENT_MAX_STEPS", "8", low="1", high="50")
AGENT_CONTEXT_TOKENS = _whole("AGENT_CONTEXT_TOKENS", "8000", low="1000", high="1000000")
AGENT_RESULT_CHARS = _whole("AGENT_RESULT_CHARS", "4000", low="100", high="1000000")
AGENT_MAX_TOKENS = _whole("AGENT_MAX_TOKENS", "600", low="1", high="100000")
AGENT_TIMEOUT_S = float(_number("AGENT_TIMEOUT_S", "60", low="1", high="600"))
INTERACTION_RETENTION_DAYS = _whole("INTERACTION_RETENTION_DAYS", "180", low="1", high="3650")
LEDGER_RETENTION_DAYS = _whole("LEDGER_RETENTION_DAYS", "730", low="1", high="3650")

# --- The evals desk -----------------------------------------------------------------------------------------------------

EVALS_CONCURRENCY = _whole("EVALS_CONCURRENCY", "8", low="1", high="256")
EVALS_DAILY_BUDGET_USD = _number("EVALS_DAILY_BUDGET_USD", "50.00", low="0", high="100000")
EVALS_LEASE_S = _whole("EVALS_LEASE_S", "60", low="2", high="3600")
EVALS_HELPERS_PER_RUN = _whole("EVALS_HELPERS_PER_RUN", "2", low="1", high="64")
EVALS_OUTAGE_PATIENCE_S = _whole("EVALS_OUTAGE_PATIENCE_S", "120", low="0", high="86400")
EVALS_HELP_FOR_S = 15  # a message helps a run for this long, then another one is sent
_LONGEST_TASK_S = EVALS_HELP_FOR_S + LLM_TIMEOUT_S + 10
if CELERY_BROKER_URL and CELERY_TASK_SOFT_TIME_LIMIT < _LONGEST_TASK_S:
    raise ImproperlyConfigured(
        f"A call of LLM_TIMEOUT_S={LLM_TIMEOUT_S:g} seconds does not fit into a task: set CELERY_VISIBILITY_TIMEOUT_S to "
        f"{-(-int(_LONGEST_TASK_S * 10) // 6)} or more, or LLM_TIMEOUT_S lower."
    )

# --- Logs: one line a record, on stderr ---------------------------------------------------------------------------------

LOG_LEVEL = _text("LOG_LEVEL", "INFO").upper()
if LOG_LEVEL not in {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}:
    raise ImproperlyConfigured(f"LOG_LEVEL={LOG_LEVEL!r} is not a level: set it to DEBUG, INFO, WARNING, ERROR or CRITICAL.")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "kallpa.logs.OneLineFormatter", "format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {
        "django": {"handlers": [], "level": LOG_LEVEL},  # without Django's own handlers, which would write each line a second time
        "django.db.backends": {"level": "WARNING"},  # with DEBUG on it logs each query with what is written in it
        "django.template": {"level": "WARNING"},  # it logs all that a page was given when a name is missing in it
        "httpx": {"level": "WARNING"},  # it logs each address it calls at INFO
        "httpcore": {"level": "WARNING"},  # it logs each header, the key among them, at DEBUG
    },
}
