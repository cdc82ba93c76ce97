# Two commands do everything on a fresh Debian machine, as root:
#   make demo    a real cloud, a baseline, the main job, a report to open
#   make test    lint, types, docs, unit tests, the reports in a browser,
#                functional tests on that cloud
#   make test-all   that, and tests of faults and damage, up to two hours
# and while working:
#   make unit    the fast loop
#   make browser reports in a real browser, Chromium

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
CLOUD ?= /var/lib/vmperf-cloud
# Rally keeps what is current in its user's home: not in yours.  No cloud may
# be where somebody lives, so `cloud` is not told of that home.
RALLY = HOME=$(CLOUD) $(BIN)/rally --config-file $(CLOUD)/rally.conf
VMPERF = HOME=$(CLOUD) $(BIN)/rally-vmperf
CONF = --config-file $(CLOUD)/rally.conf
TASK = tasks/kvm-overhead.yaml
ARGS = tasks/kvm-overhead.embedded.yaml
# Where the peer is, which cloud up chooses.
PEER = --task-args "$$(cat $(CLOUD)/task-args.yaml)"
REPORT = $(CLOUD)/report.html

.PHONY: demo test test-all unit browser lint types docs functional long
.PHONY: cloud down purge environment baseline bench bench-density chromium
.PHONY: clean

demo: cloud environment baseline
	@verdict=0; \
	$(RALLY) task start $(TASK) --task-args-file $(ARGS) $(PEER) \
	    || verdict=$$?; \
	$(RALLY) task report --html-static --out $(REPORT) && \
	echo && $(RALLY) task sla-check || true; \
	echo "The report: $(REPORT)"; \
	exit $$verdict

test: lint types docs unit browser functional

test-all: test long

unit: $(VENV)/ready
	$(BIN)/stestr --test-path tests/unit run

browser: $(VENV)/ready chromium
	$(BIN)/stestr --test-path tests/browser run --serial

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/flake8 rally_vmperf tests

types: $(VENV)/ready
	$(BIN)/mypy

docs: $(VENV)/ready
	$(BIN)/sphinx-build -W -q -b html doc/source doc/build/html

functional: cloud chromium
	VMPERF_CLOUD=$(CLOUD) $(BIN)/stestr --test-path tests/functional \
	    run --serial

long: cloud
	VMPERF_LONG=1 VMPERF_CLOUD=$(CLOUD) $(BIN)/stestr \
	    --test-path tests/long run --serial

# What our evidence costs beside that of rally-openstack's own scenario.
bench: cloud
	command -v ping >/dev/null || apt-get install -qy iputils-ping
	VMPERF_CLOUD=$(CLOUD) $(BIN)/python -m tests.bench

# How well machines begin together, and what they cost; no cloud is needed.
bench-density: $(VENV)/ready
	$(BIN)/python -m tests.bench.density

cloud: $(VENV)/ready
	$(BIN)/rally-vmperf cloud up --root $(CLOUD)

environment: cloud
	@$(RALLY) db ensure >/dev/null
	@$(RALLY) env show embedded >/dev/null 2>&1 || $(RALLY) env create \
	    --name embedded --spec $(CLOUD)/rally-env-member.json
	@$(RALLY) env use embedded

baseline: environment
	@$(VMPERF) baseline show $(CONF) embedded >/dev/null 2>&1 || \
	$(VMPERF) baseline record embedded $(CONF) --local \
	    --task $(TASK) --task-args-file $(ARGS) $(PEER)

down: $(VENV)/ready
	$(BIN)/rally-vmperf cloud down --root $(CLOUD)

# As on a machine that never had a cloud; only the guest image is kept.
purge: $(VENV)/ready
	test ! -e $(CLOUD) || \
	    $(BIN)/rally-vmperf cloud down --purge --root $(CLOUD)

$(VENV)/ready: setup.cfg requirements.txt test-requirements.txt \
    doc/requirements.txt
	$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
	    { apt-get update -q && apt-get install -qy python3-venv; }
	rm -rf *.egg-info  # an old list of entry points would go first
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/pip install -q -e . -r test-requirements.txt \
	    -r doc/requirements.txt
	touch $@

chromium:
	@command -v chromium >/dev/null || { apt-get update -q && \
	    apt-get install -qy --no-install-recommends chromium; }

clean:
	rm -rf $(VENV) build doc/build .stestr .mypy_cache .ruff_cache *.egg-info
