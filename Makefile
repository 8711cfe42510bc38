# make demo and make test are the two to know; check is what CI runs.
GO      ?= go
TAGS    := urfave_cli_no_docs
VERSION := $(shell git describe --tags --always 2>/dev/null || echo devel)
LDFLAGS := -s -w -X main.version=$(VERSION)
export CGO_ENABLED ?= 0
# The same for all, so that packages are compiled once.
export GOFLAGS := -trimpath -tags=$(TAGS)
PREFIX  ?= /usr/local

.PHONY: build install test race lint fuzz fuzz-long golden bench demo e2e kernels eval check
build: ## one static program for this machine
	$(GO) build -ldflags '$(LDFLAGS)' -o skillrun ./cmd/skillrun

skillrun:
	@$(MAKE) build

install: skillrun ## program, manual page and completions, beneath DESTDIR and PREFIX
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin share/man/man1 share/bash-completion/completions share/fish/vendor_completions.d share/zsh/site-functions)
	install -m 755 skillrun $(DESTDIR)$(PREFIX)/bin/skillrun
	install -m 644 docs/skillrun.1 $(DESTDIR)$(PREFIX)/share/man/man1/skillrun.1
	./skillrun completion bash | install -m 644 /dev/stdin $(DESTDIR)$(PREFIX)/share/bash-completion/completions/skillrun
	./skillrun completion fish | install -m 644 /dev/stdin $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/skillrun.fish
	./skillrun completion zsh | install -m 644 /dev/stdin $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_skillrun

test: build ## every test that this machine can run
	@scripts/bootstrap
	@TESTED_PROGRAM=$(CURDIR)/skillrun scripts/test -timeout 30m ./...

race: ## the same under the race detector
	CGO_ENABLED=1 $(GO) test -timeout 30m -race ./...

lint: ## formatting, vet for every platform, staticcheck
	@scripts/lint

fuzz: ## every fuzz target; FUZZTIME=10s each in CI
	@scripts/fuzz $(or $(FUZZTIME),60s)

fuzz-long: ## an hour of each fuzz target and of random programs; LONG=1h
	RANDOM_TIME=$(or $(LONG),1h) $(GO) test -count 1 -timeout 0 -run '^Test(RandomPrograms|MemoNeverDiffers)$$' -v ./sandbox ./cmd/skillrun
	@scripts/fuzz $(or $(LONG),1h)

golden: ## regenerate tables, filters and golden files; git diff shows what changed
	@scripts/bootstrap
	$(GO) generate ./profiles/... ./policy/...
	CGO_ENABLED=1 $(GO) generate ./linux/...
	CGO_ENABLED=1 $(GO) test -tags libseccomp,$(TAGS) ./linux/...
	$(GO) test $$(grep -rl --include=*_test.go 'flag.Bool("update"' . | xargs -n1 dirname | sort -u) -update

bench: build ## launches and calls, as ratios to bare exec and to bwrap
	@scripts/bootstrap
	@scripts/bench

demo: build ## two useful skills at work, and a hostile one getting nowhere
	@scripts/demo

e2e: build ## the attack suite and ordinary programs, in every environment
	@scripts/bootstrap all
	@scripts/e2e

kernels: ## the attack suite on other kernels, in qemu: as root, for hours
	@scripts/kernels

eval: ## how well commands are read, on labels not used in writing; decisions against the oracle
	$(GO) test -count=1 -run '^TestEval$$' ./policy/scan -eval heldout -v
	$(GO) test -count=1 -run '^TestOracle$$' ./policy -cases 100000 -v

check: ## what CI runs
	@scripts/check
