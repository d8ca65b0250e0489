import { fileURLToPath } from 'node:url'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** `npx vite web` beside a running server: pages reload as they are edited, the API is the server's. */
const server = process.env.ROWPORT_URL ?? 'http://localhost:8787'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // Chunks find each other wherever they lie; the server puts its own path into index.html.
  base: './',
  plugins: [react(), tailwind()],
  build: { outDir: 'dist', emptyOutDir: true, assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: { proxy: { '/dashboard': server, '/api': server, '/v1': server, '/openapi.json': server } },
})
