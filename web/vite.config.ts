import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** `npx vite web` beside a running server: pages reload as they are edited, the API is the server's. */
const server = process.env.ROWPORT_URL ?? 'http://localhost:8787'

/** What the first page needs, whichever it is, and what pages of several folders share: files that import each other load together. */
const ofEveryPage = [
  /node_modules|\0|\/src\/(?!pages\/)/,
  /\/pages\/sign-in\//,
  /-(?:search|list|requests)\.ts$/,
  /\/pages\/.*\/(?:sheet-access|sheet-state|connect-source|key-state|as-client|sending|snippets|snippet-tabs)\.tsx?$/,
]

/** Beside each file, as small as it gets: that takes a second, which nobody who opens a page should wait for. */
const compressedBeside: Plugin = {
  name: 'compressed-beside',
  // As they lie on the disk: until then other plugins put words into them.
  writeBundle({ dir = '' }, bundle) {
    for (const fileName of Object.keys(bundle)) {
      if (!/\.(?:js|css)$/.test(fileName)) continue
      const path = join(dir, fileName)
      const params = { [constants.BROTLI_PARAM_QUALITY]: 11 }
      writeFileSync(`${path}.br`, brotliCompressSync(readFileSync(path), { params }))
    }
  },
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // Chunks find each other wherever they lie; the server puts its own path into index.html.
  base: './',
  plugins: [react(), tailwind(), compressedBeside],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Small files share no words when they are compressed: pages that are opened after one another are one file.
    rolldownOptions: {
      output: {
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            { name: 'frame', test: (id) => ofEveryPage.some((files) => files.test(id)), priority: 2 },
            { name: 'sheet-pages', test: /\/web\/src\/pages\/sheet\//, priority: 1 },
            { name: 'first-pages', test: /\/web\/src\/pages\/(?:start|sheets|connect|files)\//, priority: 1 },
            { name: 'account-pages', test: /\/web\/src\/pages\//, priority: 0 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/dashboard': server, '/api': server, '/v1': server, '/openapi.json': server } },
})
