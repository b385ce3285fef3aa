# hexcodes as an image: Debian 13, because the newer build of uWebSockets.js wants its C library (docs/transport.md); a user
# without rights; nothing is written outside /data. Build it from the root of the repository: docker build -t hexcodes .
ARG BASE=docker.io/library/node:24-trixie-slim

FROM ${BASE} AS build
WORKDIR /build
COPY . .
# Scripts of packages are not run; none of those that the service uses needs one.
RUN npm ci --ignore-scripts && node build.mjs && npm prune --omit=dev --ignore-scripts \
  && node deploy/docker/unlink-workspaces.mjs && node deploy/docker/keep-own-binaries.mjs

FROM ${BASE}
# A folder that a fresh volume takes its owner and mode from.
RUN mkdir -m 0700 /data && chown 65532:65532 /data
WORKDIR /opt/hexcodes
COPY --from=build /build/package.json /build/LICENSE /build/NOTICE ./
COPY --from=build /build/node_modules node_modules
USER 65532:65532
ENV NODE_ENV=production HEXCODES_HOST=0.0.0.0 HEXCODES_DATA_DIR=/data
EXPOSE 8080 9090
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.HEXCODES_ADMIN_PORT ?? 9090}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "node_modules/hexcodes-cli/bin/hexcodes.js"]
CMD ["serve"]
