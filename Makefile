# Needs Python 3.11 or newer, make and git; everything else goes into .venv.
PYTHON ?= python3
PORT ?= 8000
ARGS ?=
SERVICES ?= 0

VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/requirements.stamp
DEV := $(VENV)/requirements-dev.stamp
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
MANAGE := $(BIN)/python manage.py
CODE := kallpa bookings assistant evals bench conftest.py manage.py .ci/count_tests.py
# Tests never see a real model, whatever the shell that starts them has exported.
PYTEST := env -u LLM_BASE_URL -u LLM_MODEL -u LLM_API_KEY $(BIN)/python -m pytest
MARKS := $(if $(filter 1,$(SERVICES)),not faults,not faults and not services)

# With SERVICES=1 the whole suite runs on these, unless the environment names others.
ifeq ($(SERVICES),1)
export DATABASE_URL ?= postgres://postgres@127.0.0.1:5432/kallpa
export REDIS_URL ?= redis://127.0.0.1:6379/5
export CELERY_BROKER_URL ?= redis://127.0.0.1:6379/6
endif

export PYTHONUTF8 := 1
export PORT

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo serve costo test check lint format evals eval-real model-is-named agente mcp bench faults prepare clean

help: ## List these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

demo: prepare ## Run the golden dataset `reservas` with scripted answers and print the verdict
	@$(MANAGE) eval_run reservas --model scripted

serve: prepare ## Serve the site on 127.0.0.1:PORT (8000) and print the demo logins
	@$(MANAGE) seed_demo --logins
	@$(MANAGE) runserver 127.0.0.1:$(PORT)

test: $(DEV) ## Run the tests; ARGS="-k text" narrows them, SERVICES=1 runs all on PostgreSQL and Redis
	@$(PYTEST) -n auto -m "$(MARKS)" $(ARGS)

check: lint test ## Format, lint, import contracts, types, missing migrations, the API schema, tests

lint: $(DEV)
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports
	@$(BIN)/mypy $(CODE)
	@$(MANAGE) makemigrations --check --dry-run
	@$(MANAGE) spectacular --validate --fail-on-warn --file /dev/null

format: $(DEV) ## Format the code and mend what the linter can mend
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

evals: prepare ## Run the three golden datasets with scripted answers
	@$(MANAGE) eval_run kit --model scripted
	@$(MANAGE) eval_run reservas --model scripted
	@$(MANAGE) eval_run seguridad --model scripted:resiste --prompt con-nombres

eval-real: model-is-named prepare ## Run `reservas` against the model that LLM_BASE_URL and LLM_MODEL name
	@$(MANAGE) eval_run reservas --model "$$LLM_MODEL" $(ARGS)

model-is-named:
	@if [ -z "$$LLM_BASE_URL" ] || [ -z "$$LLM_MODEL" ]; then \
		echo "Set LLM_BASE_URL and LLM_MODEL to say which model to ask, for example:"; \
		echo "  LLM_BASE_URL=http://127.0.0.1:8080/v1 LLM_MODEL=qwen2.5-7b-instruct make eval-real"; \
		exit 2; \
	fi >&2

agente: $(RUNTIME) ## Show the agent's loop: how its context grows, the cut, a model that only says it is done
	@$(MANAGE) agent_demo

mcp: prepare ## Show a conversation with the MCP server, message by message
	@$(MANAGE) mcp_demo

costo: prepare ## Estimate what the assistant costs in a month, typical and attacked
	@$(MANAGE) cost_estimate $(ARGS)

bench: $(DEV) ## Measure pages, imports, lists and runs here, and fail on a missed goal; ARGS="lists runs" narrows
	@$(BIN)/python -m bench $(ARGS)

faults: $(DEV) ## Run the long tests that kill workers and break the provider
	@$(PYTEST) -m faults $(ARGS)

clean: ## Remove .venv, caches and build output; the database stays
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build staticfiles
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

prepare: $(RUNTIME)
	@$(MANAGE) migrate --verbosity 0
	@$(MANAGE) seed_demo

$(VENV)/pyvenv.cfg:
	@command -v "$(PYTHON)" >/dev/null || { \
		echo "Python was not found as '$(PYTHON)': install Python 3.11 or newer, or name it: make PYTHON=/path/to/python3.11 demo" >&2; exit 2; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "$$("$(PYTHON)" --version) is too old, Kallpa needs 3.11 or newer: make PYTHON=/path/to/python3.11 demo" >&2; exit 2; }
	@"$(PYTHON)" -m venv $(VENV) || { rm -rf $(VENV); \
		echo "$(PYTHON) cannot make a virtual environment: install its venv module (Debian and Ubuntu: apt-get install python3-venv)." >&2; exit 2; }

# The stamps say that pip has finished; they are older than the requirements only when those have changed.
$(RUNTIME): requirements.txt constraints.txt $(VENV)/pyvenv.cfg
	@echo "Installing what Kallpa needs into $(VENV) (only when the requirements change)…"
	@$(PIP_INSTALL) -r requirements.txt
	@touch $@

$(DEV): requirements-dev.txt $(RUNTIME)
	@echo "Installing what the tests and checks need into $(VENV)…"
	@$(PIP_INSTALL) -r requirements-dev.txt
	@touch $@
