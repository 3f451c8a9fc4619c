# Short names for what is done often. `make` builds ./firn.
ADDR     ?= 127.0.0.1:6379
FUZZTIME ?= 10m
SOAKTIME ?= 10m
GOLANGCI ?= golangci-lint
DUEL     ?= 1000000

.PHONY: build run test race lint fuzz duel soak bench pgo suites clients clean

build:
	CGO_ENABLED=0 go build -trimpath -o firn .

run:
	go run .

test:
	go test ./...

race:
	go test -race -shuffle=on -tags invariants ./...

lint:
	gofmt -l . | (! grep .)
	go vet ./...
	$(GOLANGCI) run

# Every fuzz target in turn, each for FUZZTIME.
fuzz:
	@set -e; for f in $$(grep -rl --include='*_test.go' '^func Fuzz' .); do \
	  for t in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' $$f); do \
	    echo "== $$(dirname $$f) $$t"; \
	    go test "$$(dirname $$f)" -run '^$$' -fuzz "^$$t\$$" -fuzztime $(FUZZTIME); \
	  done; done

# Random lines of all types, as many as DUEL says, to redis-server 7.0.15 and to
# us. REDIS_SERVER names its program, if it isn't in the PATH.
duel:
	FIRN_DUEL=$(DUEL) go test -count=1 -timeout 60m -v -run '^TestTypesDuel$$' ./commands

# A gigabyte of noise; then the random tests again and again, each time with
# another seed.
soak:
	FIRN_NOISE=1073741824 go test -count=1 -run '^TestRandomBytes$$' ./server
	@end=$$(($$(date +%s) + $$(echo $(SOAKTIME) | sed 's/m$$//') * 60)); \
	while [ $$(date +%s) -lt $$end ]; do \
	  go test -race -shuffle=on -tags invariants -count=1 ./... || exit 1; done

bench:
	go run ./bench

# default.pgo, by which the compiler optimises what the load runs through.
pgo: build
	bench/pgo.sh ./firn default.pgo

# Redis' own test suite, from Debian's source package.
suites: build
	integration/suites/tcl.sh ./firn

# Real clients against a server that is running at ADDR.
clients:
	integration/clients/run.sh $(subst :, ,$(ADDR))

clean:
	rm -rf firn bin out integration/clients/node_modules
