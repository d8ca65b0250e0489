# A tag can be moved: whoever wants the very same bytes each time puts its digest behind it (docs/operating.md, "Images").
FROM node:26.10.0-slim AS package
WORKDIR /rowport
COPY package.json package-lock.json .npmrc ./
# All of them: what bundles the code is for each system a package of its own, and optional. None of it is in the image below.
RUN npm ci --ignore-scripts
COPY . .
RUN node node_modules/vite/bin/vite.js build --config web/vite.config.ts --logLevel error \
  && node scripts/package.ts --out /package

FROM node:26.10.0-slim
COPY --from=package /package/rowport-*.tgz /tmp/rowport.tgz
# What `npx rowport` installs: it brings what it needs.
RUN npm install --global --ignore-scripts --no-audit --no-fund /tmp/rowport.tgz && rm -rf /tmp/rowport.tgz /root/.npm \
  && mkdir /data && chown node /data
USER node
# docs/decisions/017: without the last, memory that was freed stays with the process.
ENV HOST=0.0.0.0 PORT=8787 ROWPORT_DATA=/data MALLOC_MMAP_THRESHOLD_=65536
VOLUME /data
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["rowport", "serve"]
