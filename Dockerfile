# hexcodes as an image: Debian 13, because the newer build of uWebSockets.js wants its C library (docs/transport.md); a user
# without rights; nothing is written outside /data. Build it from the root of the repository; docs/operations.md has the command.
ARG BASE=docker.io/library/node:24-trixie-slim

FROM ${BASE} AS manifests
WORKDIR /build
COPY . .
RUN node deploy/docker/keep-manifests.mjs .

FROM ${BASE} AS build
WORKDIR /build
# Packages are a layer of their own, which code does not change. Their scripts are not run; none of those that the service
# uses needs one.
COPY --from=manifests /build ./
RUN npm ci --ignore-scripts
COPY . .
RUN node build.mjs && npm prune --omit=dev --ignore-scripts \
  && node deploy/docker/unlink-workspaces.mjs && node deploy/docker/keep-own-binaries.mjs

FROM ${BASE}
ARG BASE
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title=hexcodes \
  org.opencontainers.image.description="GPS positions in Viet Nam as short codes, and back" \
  org.opencontainers.image.licenses="Apache-2.0 AND ODbL-1.0 AND CC-BY-4.0 AND LGPL-3.0-or-later" \
  org.opencontainers.image.version=${VERSION} \
  org.opencontainers.image.revision=${REVISION} \
  org.opencontainers.image.base.name=${BASE}
# A folder that a fresh volume takes its owner and mode from.
RUN mkdir -m 0700 /data && chown 65532:65532 /data
WORKDIR /opt/hexcodes
COPY --from=build /build/package.json /build/LICENSE /build/NOTICE /build/deploy/docker/healthy.sh ./
COPY --from=build /build/data/LICENSE data/
COPY --from=build /build/data/licences data/licences
COPY --from=build /build/node_modules node_modules
USER 65532:65532
ENV NODE_ENV=production HEXCODES_HOST=0.0.0.0 HEXCODES_DATA_DIR=/data
EXPOSE 8080 9090
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 CMD ["bash", "healthy.sh"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "node_modules/hexcodes-cli/bin/hexcodes.js"]
CMD ["serve"]
