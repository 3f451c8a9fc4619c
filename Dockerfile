# Built for several architectures at once: the builder runs natively and
# cross-compiles (no cgo, so no emulation is needed for the Go part):
#
#   docker buildx build --platform linux/amd64,linux/arm64 -t firn .

FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
ARG TARGETOS
ARG TARGETARCH
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags '-s -w' -o /out/firn .

FROM debian:bookworm-slim
# redis-tools brings redis-cli, which compose files call in their health checks.
# Uid and gid 999 are those of the Redis images, so that a volume can change hands.
RUN groupadd -r -g 999 firn \
 && useradd -r -g firn -u 999 -d /data -s /usr/sbin/nologin firn \
 && apt-get update \
 && apt-get install -y --no-install-recommends redis-tools \
 && rm -rf /var/lib/apt/lists/* \
 && mkdir -p /data && chown firn:firn /data
COPY --from=build /out/firn /usr/local/bin/firn
COPY docker/entrypoint.sh /usr/local/bin/entrypoint.sh
COPY firn.conf /usr/local/share/firn/firn.conf
COPY LICENSE NOTICE /usr/local/share/doc/firn/
# `command: redis-server --appendonly yes` must go on working.
RUN ln -s firn /usr/local/bin/redis-server

USER 999:999
VOLUME /data
WORKDIR /data
EXPOSE 6379
# By the binary itself: no client, no shell. A server that is still loading
# answers -LOADING, which counts as unhealthy but not, within start-period, as failed.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 CMD ["firn", "healthcheck"]
ENTRYPOINT ["entrypoint.sh"]
CMD ["firn"]
