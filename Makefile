# Every target sets up what it needs by itself: packages (scripts/install-deps), configuration (CMakePresets.json), build.
# Variables: JOBS=N limits parallel compilation, FUZZ_SECONDS=N is how long each fuzzer runs, BERTH_SKIP_DEPS=1 leaves
# packages alone, SCHEDULER=upstream has `make e2e` test kube-scheduler instead of berth, ARGS are passed on by e2e and
# bench-live, TESTS are those that asan and tsan run, TEST and FILTER are the program and the cases that try runs,
# ARCH=arm64 has dist and package build for that architecture on an amd64 machine. With CI=true in the environment,
# warnings are errors.

JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 30
KIND ?= basic
NODES ?= 5000
PODS ?= 20000
SEEDS ?= 2000
TESTS ?=
SCHEDULER ?= berth
ARGS ?=
SOME ?=
HOST_ARCH := $(shell dpkg --print-architecture 2>/dev/null || echo amd64)
ARCH ?= $(HOST_ARCH)
QUICKSTART := -f examples/quickstart/cluster.yaml -f examples/quickstart/pods.yaml

ifeq ($(CI),true)
WERROR := ON
else
WERROR := OFF
endif

# The preset and the folder that dist and package build with.
ifeq ($(ARCH),$(HOST_ARCH))
DIST := release
DIST_BUILD := build
else ifeq ($(ARCH),arm64)
DIST := arm64
DIST_BUILD := build-arm64
else ifneq ($(filter dist package,$(MAKECMDGOALS)),)
$(error ARCH is $(ARCH); expected $(HOST_ARCH), which is this machine's, or arm64)
endif

# Each takes a preset. CMake is quiet unless something is wrong.
configure = cmake --preset $(1) -DBERTH_WERROR=$(WERROR) --log-level=WARNING >/dev/null
compile = $(call configure,$(1)) && cmake --build --preset $(1) --parallel $(JOBS)
run-tests = ctest --preset $(1) --parallel $(JOBS)
# With TESTS, only those are run, and only what they need is built. Some run a program of another name.
program-of = $(patsubst berth_storms,berth-storm,$(patsubst berth_parity_%,berth-parity,$(1)))
space := $(subst ,, )
programs = $(if $(TESTS),--target $(sort $(foreach test,$(TESTS),$(call program-of,$(test)))))
chosen = $(if $(TESTS),--tests-regex '^($(subst $(space),|,$(strip $(TESTS))))$$')

.DEFAULT_GOAL := build
.NOTPARALLEL:
.PHONY: run test build debug try bench count profile lint tidy format asan tsan fuzz dist package storm e2e \
  test-arm64 bench-live build-cost check-includes clean help deps deps-lint deps-count deps-dist deps-arm64 deps-dev \
  deps-e2e

run: build ## build, then schedule the example cluster
	@build/berth simulate $(QUICKSTART)
	@scripts/next-steps

test: deps ## build, then run every test, parity included
	@$(call compile,release)
	@$(call run-tests,release)

build: deps ## build build/berth (release)
	@$(call compile,release) --target berth

debug: deps ## build and test without optimisation, in build-debug/
	@$(call compile,debug)
	@$(call run-tests,debug)

# Configures only once: after that, ninja does so when a build file or the list of files changes.
try: deps ## build and run one test program in build-debug/: make try TEST=berth_queue_test [FILTER='Backoff*']
	@test -n '$(TEST)' || { echo "make try TEST=berth_queue_test [FILTER='Backoff*']"; exit 2; }
	@test -e build-debug/build.ninja || { $(call configure,debug); }
	@cmake --build --preset debug --parallel $(JOBS) --target $(TEST)
	@GTEST_FILTER='$(or $(FILTER),*)' ctest --preset debug --verbose --tests-regex '^$(TEST)$$'

# Most warnings in a sanitized build are caused by the instrumentation.
asan tsan: WERROR := OFF

asan: deps ## build and test with the address and undefined-behaviour sanitizers [TESTS='berth_storms …']
	@$(call compile,asan) $(programs)
	@$(call run-tests,asan) $(chosen)

tsan: deps ## build and test with the thread sanitizer [TESTS='berth_live_test …']
	@$(call compile,tsan) $(programs)
	@$(call run-tests,tsan) $(chosen)

bench: deps ## build and run every *_bench program
	@$(call compile,bench)
	@scripts/run-benchmarks build

count: deps-count ## count the instructions of a few benchmarks and compare them with those on record
	@$(call compile,release) --target berth
	@scripts/count-instructions

profile: deps ## draw where the time of a benchmark goes: make profile KIND=spread [NODES=5000] [PODS=20000]
	@$(call compile,profile) --target berth
	@scripts/profile $(KIND) $(NODES) $(PODS)

dist: deps-dist ## pack the program for any distribution, build/berth-VERSION-linux-ARCH.tar.gz [ARCH=arm64]
	@$(call compile,$(DIST)) --target berth
	@test/dist/dist_test $(DIST_BUILD) $(ARCH)
	@scripts/dist $(DIST_BUILD) $(ARCH)
	@cat $(DIST_BUILD)/berth-*-linux-$(ARCH).tar.gz.sha256

package: deps-dist ## build a Debian package, build/berth_VERSION_ARCH.deb [ARCH=arm64]
	@$(call compile,$(DIST)) --target berth
	@cd $(DIST_BUILD) && SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct 2>/dev/null || echo 0) cpack >/dev/null && ls berth_*.deb

test-arm64: deps-arm64 ## cross-build for arm64, then run the parity cases and test the tarball under qemu-user (slow)
	@$(call compile,arm64) --target berth --target berth-parity
	@ctest --preset arm64

fuzz: deps-dev ## build every *_fuzz program with clang and run each for FUZZ_SECONDS
	@$(call compile,fuzz)
	@scripts/run-fuzzers build-fuzz $(FUZZ_SECONDS)

lint: deps-lint ## format, lint and layer checks, as CI runs them
	@scripts/check

format: deps-lint ## rewrite C++ files in the project's format
	@scripts/format

tidy: deps-dev ## clang-tidy over the whole tree (slow)
	@$(call configure,release)
	@run-clang-tidy-14 -quiet -p build -j $(JOBS) '/(src|cmd|test)/.*\.cc$$'

storm: deps ## seeded storms of the whole scheduler in virtual time: make storm [SEEDS=2000]
	@$(call compile,release) --target berth-storm && build/berth-storm --seeds $(SEEDS)

e2e: deps-e2e $(if $(filter berth,$(SCHEDULER)),build) ## scenarios on a real kube-apiserver [SCHEDULER=upstream]
	@test/e2e/run --scheduler $(SCHEDULER) $(ARGS)

bench-live: deps-e2e build ## berth beside kube-scheduler on a real kube-apiserver: make bench-live [ARGS='--pods 1000']
	@test/e2e/bench_live.py $(ARGS)

build-cost: ## print the ten most expensive source files and headers of the last build
	@scripts/build-cost

check-includes: deps ## compile every file on its own, so that a missing include shows [SOME=1: those that changed, a tenth of the rest]
	@$(call configure,debug)
	@scripts/check-includes build-debug $(if $(SOME),--some)

clean: ## remove every build directory
	@rm -rf build build-debug build-profile build-asan build-tsan build-fuzz build-arm64

help: ## this list
	@echo 'make TARGET, where TARGET is one of'
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

deps:
	@scripts/install-deps

deps-lint:
	@scripts/install-deps --lint

deps-count:
	@scripts/install-deps --count

deps-dist:
	@scripts/install-deps $(if $(filter release,$(DIST)),--package,--arm64)

deps-arm64:
	@scripts/install-deps --arm64

deps-dev:
	@scripts/install-deps --dev

deps-e2e:
	@scripts/install-deps --e2e
