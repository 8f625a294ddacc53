# One image for web, worker, beat and migrate: docker-compose.yml says which command each one runs.
FROM python:3.11-slim AS build
RUN python -m venv /venv
COPY requirements.txt constraints.txt ./
RUN /venv/bin/pip install --no-cache-dir --disable-pip-version-check -r requirements.txt -c constraints.txt

FROM python:3.11-slim
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PYTHONUTF8=1 DEBUG=0
RUN useradd --uid 10001 --create-home kallpa && install -d -o kallpa /var/lib/kallpa
WORKDIR /app
COPY --from=build /venv /venv
COPY . .
# The key and the host of this step serve only to load the settings; nothing keeps them.
RUN SECRET_KEY="$(python -c 'import secrets; print(secrets.token_urlsafe(50))')" ALLOWED_HOSTS=build \
    python manage.py collectstatic --noinput --verbosity 0
USER kallpa
EXPOSE 8000
# Asks with a host name that the site answers to: any other is refused with 400.
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as u; host = os.environ['ALLOWED_HOSTS'].split(',')[0].strip().lstrip('.'); u.urlopen(u.Request('http://127.0.0.1:8000/healthz', headers={'Host': host}), timeout=4)"]
CMD ["gunicorn", "kallpa.wsgi", "--bind", "0.0.0.0:8000", "--worker-class", "gthread", "--workers", "2", "--threads", "8", "--timeout", "60", "--graceful-timeout", "30", "--worker-tmp-dir", "/dev/shm", "--access-logfile", "-", "--logger-class", "kallpa.access_log.PathLogger"]
