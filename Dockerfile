# Amble in a container: `worker` (the default), `server`, `migrate` or any other command. Temporal and Postgres are elsewhere.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# Optional are the embedded Postgres, which is for machines that have none, and tools that only a build needs.
RUN npm ci --omit=dev --omit=optional --ignore-scripts

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
# The package is what npm would publish: the compiled program and the workflow bundle, without tests and benchmarks.
RUN npm run build && npm pack --ignore-scripts && mkdir /package && tar -xzf amble-*.tgz --strip-components=1 -C /package

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    AMBLE_HOME=/var/lib/amble \
    AMBLE_LOG_FORMAT=json \
    AMBLE_METRICS_LISTEN=0.0.0.0:9464 \
    AMBLE_HEALTH_LISTEN=0.0.0.0:9465
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /package ./
# The directory of stored bodies. A new volume takes over its owner.
RUN install --directory --owner=node --group=node --mode=0700 /var/lib/amble
USER 1000
VOLUME /var/lib/amble
# 9464: metrics of a worker; 9465: its health; 8080: the server.
EXPOSE 9464 9465 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "--eval", "fetch('http://127.0.0.1:9465/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Its first line has options of Node.
ENTRYPOINT ["./dist/src/cli.js"]
CMD ["worker"]
