# On a new Debian machine, as root:
#   make demo        start a cloud, record a baseline, run the main job, and
#                    write a report
#   make test        lint, types, docs, unit tests, tests of the reports in a
#                    browser, and the main job, a density task and Tempest on
#                    the cloud
#   make functional  run the other functional tests on the cloud
#   make test-all    run both, and tests of faults and damage (several hours)
# During development:
#   make unit        run the unit tests
#   make browser     test the reports in Chromium
#   make picture     draw the pictures of pages
#   make reference   write the generated pages that are committed
#   make lock        write the pinned releases with their hashes

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
CLOUD ?= /var/lib/vmperf-cloud
# Rally stores the current environment in the home directory: that of the
# cloud.  The program of the cloud keeps the home directory of the user,
# because it rejects a cloud in a home directory.
RALLY = HOME=$(CLOUD) $(BIN)/rally --config-file $(CLOUD)/rally.conf
VMPERF = HOME=$(CLOUD) $(BIN)/rally-vmperf
CONF = --config-file $(CLOUD)/rally.conf
TASK = tasks/kvm-overhead.yaml
ARGS = tasks/kvm-overhead.embedded.yaml
COMPILE = build/lock/bin/uv pip compile -q --universal \
    --python-version 3.11 --generate-hashes --no-annotate --no-header
# The address of the peer, which `up` selects.
PEER = --task-args "$$(cat $(CLOUD)/task-args.yaml)"
REPORT = $(CLOUD)/report.html
RESULTS = $(CLOUD)/results.json
# The Debian packages whose programs unit tests execute, in addition to those
# that every Debian system has.  No other program is on the path of the tests.
# Their services are not started.
UNIT_PACKAGES = bzip2 e2fsprogs fio iperf3 iproute2 openssh-client iperf \
    nghttp2-client nginx openssh-server sockperf sysbench vsftpd wget
# The tools of the main job, for the baseline of this machine.
LOCAL_PACKAGES = bzip2 fio iperf3 mbw sysbench
# The functional tests that are part of `make test`.
VERDICTS = 'test_(main_job|density|tempest)\.'
FUNCTIONAL = VMPERF_CLOUD=$(CLOUD) $(BIN)/stestr \
    --test-path tests/functional run --serial

.PHONY: demo test test-all unit unit-of browser checks lint types docs verdicts
.PHONY: functional long
.PHONY: cloud down purge environment baseline bench bench-density chromium
.PHONY: unit-packages local-packages lock clean bench-verdicts bench-busy
.PHONY: main-job picture reference

# Start the cloud and install the packages of Python in parallel.  Both install
# packages of Debian, which only one process can do at a time.
demo: local-packages
	@$(MAKE) --no-print-directory -j 2 main-job

main-job: baseline
	@verdict=0; \
	$(RALLY) task start $(TASK) --task-args-file $(ARGS) $(PEER) \
	    || verdict=$$?; \
	$(RALLY) task report --json --out $(RESULTS) >/dev/null 2>&1 && echo && \
	$(BIN)/rally-vmperf report $(RESULTS) --journal-dir $(CLOUD)/journal \
	    -o $(REPORT) && \
	echo "The report needs no network: open $(REPORT) in a browser," && \
	echo "elsewhere after: scp $$(id -un)@$$(hostname):$(REPORT) ."; \
	exit $$verdict

test: checks unit browser verdicts

# Run in parallel, with the output of each in one piece.
checks: $(VENV)/whole
	@$(MAKE) --no-print-directory -j 2 -O lint types docs

test-all: test functional long

unit: $(VENV)/whole unit-packages
	$(BIN)/stestr --test-path tests/unit run --abbreviate
	@$(BIN)/python -m tests.skips

unit-of: $(VENV)/whole
	tests=$$($(BIN)/python -m tests.related $(MODULE)) && \
	    $(BIN)/python -m unittest $$tests

browser: $(VENV)/whole chromium
	$(BIN)/stestr --test-path tests/browser run

picture: $(VENV)/whole chromium
	$(BIN)/python -m tests.browser.picture

lint: $(VENV)/whole
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/flake8 rally_vmperf tests
	@$(BIN)/python -m tests.lengths

types: $(VENV)/whole
	$(BIN)/mypy

reference: $(VENV)/whole
	$(BIN)/python -m doc.ext

docs: $(VENV)/whole
	$(BIN)/sphinx-build -W -q -b html doc/source doc/build/html

verdicts: $(VENV)/whole cloud local-packages
	$(FUNCTIONAL) $(VERDICTS)

functional: $(VENV)/whole cloud local-packages
	$(FUNCTIONAL) --exclude-regex $(VERDICTS)

# A topic takes at most an hour: make long TOPIC=workloads
long: $(VENV)/whole cloud local-packages
	VMPERF_LONG=1 VMPERF_CLOUD=$(CLOUD) $(BIN)/stestr \
	    --test-path tests/long run --serial $(TOPIC:%='test_%\.')

# Compare the cost of a run with that of the scenario of rally-openstack.
bench: $(VENV)/whole cloud
	command -v ping >/dev/null || apt-get install -qy iputils-ping
	VMPERF_CLOUD=$(CLOUD) $(BIN)/python -m tests.bench

# Count the requests to a cloud with thousands of servers, ports and hosts.
bench-busy: $(VENV)/whole cloud
	VMPERF_CLOUD=$(CLOUD) $(BIN)/python -m tests.bench.busy

# Measure the skew of starts and the cost of a machine; without a cloud.
bench-density: $(VENV)/whole
	$(BIN)/python -m tests.bench.density

# Simulate runs, and count wrong verdicts; without a cloud.
bench-verdicts: $(VENV)/whole
	$(BIN)/python -m tests.bench.shipped_task
	$(BIN)/python -m tests.bench.verdicts
	$(BIN)/python -m tests.bench.worst_guest
	$(BIN)/python -m tests.bench.bare_outliers
	$(BIN)/python -m tests.bench.audit
	$(BIN)/python -m tests.bench.partial_load

cloud: $(VENV)/ready
	$(BIN)/python -m tests.cloud up --root $(CLOUD)

environment: $(VENV)/whole cloud
	@$(RALLY) db ensure >/dev/null
	@$(RALLY) env use embedded >/dev/null 2>&1 || { \
	    $(RALLY) env create --name embedded \
	        --spec $(CLOUD)/rally-env-member.json >/dev/null && \
	    echo "Rally environment: embedded"; }

# The cloud runs on this machine, which can itself be a guest.
baseline: environment local-packages
	@$(VMPERF) baseline show $(CONF) embedded >/dev/null 2>&1 || \
	$(VMPERF) baseline record embedded $(CONF) --local --measure-anyway \
	    --task $(TASK) --task-args-file $(ARGS) $(PEER)

down: $(VENV)/ready
	$(BIN)/python -m tests.cloud down --root $(CLOUD)

# Delete the cloud with all its files.
purge: $(VENV)/ready
	test ! -e $(CLOUD) || \
	    $(BIN)/python -m tests.cloud down --purge --root $(CLOUD)

# The environment with the packages of the cloud, without Rally.
$(VENV)/ready: setup.cfg constraints-cloud.txt
	$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
	    { apt-get update -q && apt-get install -qy python3-venv; }
	rm -rf *.egg-info  # old entry points would precede
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/pip install -q --no-compile --require-hashes \
	    -r constraints-cloud.txt
	$(BIN)/pip install -q --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/whole: $(VENV)/ready constraints.txt
	$(BIN)/python -m compileall -qq $(VENV)/lib || true
	$(BIN)/pip install -q --require-hashes -r constraints.txt
	touch $@

# The pinned releases with their hashes; LOCK=--upgrade takes the
# latest ones.
lock:
	mkdir -p build
	$(PYTHON) -m venv build/lock
	build/lock/bin/pip install -q uv
	$(COMPILE) $(LOCK) -o constraints.txt requirements.txt \
	    test-requirements.txt doc/requirements.txt
	grep -vE '^(numpy|pydantic|rally|scipy)' requirements.txt \
	    >build/cloud.txt
	printf '%s\n' pbr setuptools >>build/cloud.txt
	$(COMPILE) -c constraints.txt -o constraints-cloud.txt build/cloud.txt

unit-packages: $(VENV)/ready
	@$(BIN)/python -m tests.policy $(UNIT_PACKAGES)

local-packages:
	@dpkg-query --status $(LOCAL_PACKAGES) >/dev/null 2>&1 || { \
	    apt-get update -qq && apt-get install -qqy -o Dpkg::Use-Pty=0 \
	    --no-install-recommends $(LOCAL_PACKAGES) >/dev/null; }

chromium:
	@command -v chromium >/dev/null || { apt-get update -q && \
	    apt-get install -qy --no-install-recommends chromium; }

clean:
	rm -rf $(VENV) build doc/build .stestr .mypy_cache .ruff_cache *.egg-info
