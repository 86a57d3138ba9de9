# Every target sets up what it needs by itself: packages (scripts/install-deps), configuration (CMakePresets.json), build.
# Variables: JOBS=N limits parallel compilation, FUZZ_SECONDS=N is how long each fuzzer runs, BERTH_SKIP_DEPS=1 leaves
# packages alone, SCHEDULER=upstream has `make e2e` test kube-scheduler instead of berth, ARGS are passed on by e2e and
# bench-live. With CI=true in the environment, warnings are errors.

JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 30
KIND ?= basic
NODES ?= 5000
PODS ?= 20000
SCHEDULER ?= berth
ARGS ?=
QUICKSTART := -f examples/quickstart/cluster.yaml -f examples/quickstart/pods.yaml

ifeq ($(CI),true)
WERROR := ON
else
WERROR := OFF
endif

# Each takes a preset. CMake is quiet unless something is wrong.
configure = cmake --preset $(1) -DBERTH_WERROR=$(WERROR) --log-level=WARNING >/dev/null
compile = $(call configure,$(1)) && cmake --build --preset $(1) --parallel $(JOBS)
run-tests = ctest --preset $(1) --parallel $(JOBS)

.DEFAULT_GOAL := build
.NOTPARALLEL:
.PHONY: run test build debug bench count profile lint tidy format asan tsan fuzz package e2e \
  bench-live clean help deps deps-lint deps-count deps-package deps-dev deps-e2e

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

asan: deps ## build and test with the address and undefined-behaviour sanitizers
	@$(call compile,asan)
	@$(call run-tests,asan)

tsan: deps ## build and test with the thread sanitizer
	@$(call compile,tsan)
	@$(call run-tests,tsan)

bench: deps ## build and run every *_bench program
	@$(call compile,bench)
	@scripts/run-benchmarks build

count: deps-count ## count the instructions of three benchmarks and compare them with those on record
	@$(call compile,release) --target berth
	@scripts/count-instructions

profile: build ## draw where the time of a benchmark goes: make profile KIND=spread [NODES=5000] [PODS=20000]
	@scripts/profile $(KIND) $(NODES) $(PODS)

package: deps-package ## build a Debian package, build/berth_VERSION_ARCH.deb
	@$(call compile,release) --target berth
	@cd build && cpack >/dev/null && ls berth_*.deb

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

e2e: deps-e2e $(if $(filter berth,$(SCHEDULER)),build) ## scenarios on a real kube-apiserver [SCHEDULER=upstream]
	@test/e2e/run --scheduler $(SCHEDULER) $(ARGS)

bench-live: deps-e2e build ## berth beside kube-scheduler on a real kube-apiserver: make bench-live [ARGS='--pods 1000']
	@test/e2e/bench_live.py $(ARGS)

clean: ## remove every build directory
	@rm -rf build build-debug build-asan build-tsan build-fuzz

help: ## this list
	@echo 'make TARGET, where TARGET is one of'
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

deps:
	@scripts/install-deps

deps-lint:
	@scripts/install-deps --lint

deps-count:
	@scripts/install-deps --count

deps-package:
	@scripts/install-deps --package

deps-dev:
	@scripts/install-deps --dev

deps-e2e:
	@scripts/install-deps --e2e
