# A tag can be moved: whoever wants the very same bytes each time puts its digest behind it (docs/operating.md, "Images").
FROM node:26.10.0-slim AS packages
WORKDIR /rowport
COPY package.json package-lock.json .npmrc ./
# The image has the pinned Node already, so the packages that bring it are left out.
RUN npm ci --ignore-scripts --omit=dev --omit=optional

FROM packages AS app
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY src src
COPY web web
RUN node node_modules/vite/bin/vite.js build --config web/vite.config.ts --logLevel error

FROM node:26.10.0-slim
WORKDIR /rowport
RUN printf '#!/bin/sh\nexec node /rowport/src/cli.ts "$@"\n' > /usr/local/bin/rowport \
  && chmod +x /usr/local/bin/rowport && mkdir /data && chown node /data
COPY --from=packages /rowport/node_modules node_modules
COPY package.json ./
COPY src src
COPY docs docs
COPY --from=app /rowport/web/dist web/dist
USER node
# docs/decisions/017: without it, memory that was freed stays with the process.
ENV HOST=0.0.0.0 PORT=8787 ROWPORT_DATA=/data MALLOC_MMAP_THRESHOLD_=65536
VOLUME /data
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/main.ts"]
