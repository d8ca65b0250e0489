FROM node:26.10.0-slim AS build
WORKDIR /rowport
COPY . .
RUN npm ci && node node_modules/vite/bin/vite.js build --config web/vite.config.ts --logLevel error
# The image has the pinned Node already, so the packages that bring it are left out.
RUN npm ci --omit=dev --omit=optional

FROM node:26.10.0-slim
WORKDIR /rowport
COPY --from=build /rowport/package.json ./
COPY --from=build /rowport/node_modules node_modules
COPY --from=build /rowport/src src
COPY --from=build /rowport/web/dist web/dist
RUN printf '#!/bin/sh\nexec node /rowport/src/cli.ts "$@"\n' > /usr/local/bin/rowport \
  && chmod +x /usr/local/bin/rowport && mkdir /data && chown node /data
USER node
ENV HOST=0.0.0.0 ROWPORT_DATA=/data
VOLUME /data
EXPOSE 8787
CMD ["node", "src/main.ts"]
