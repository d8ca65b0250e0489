import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join } from 'node:path'
import { bodyFor, isKnown, type KeptFile, keptFile } from './kept-file.ts'
import { contentPolicy, safetyHeaders } from './page-headers.ts'
import { pageAddresses } from './pages.ts'
import type { Site } from './site.ts'

/** The built dashboard. All of it is in memory from the first request on: it is small, and does not change. */
export interface AppFiles {
  /** Whether something is served at this path: a page of the app, or a file that it is made of. */
  isAt(path: string): boolean
  /** `status`: 404 for a path where there is nothing, which the app then says in words. */
  answer(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    site: Site,
    status?: 200 | 404,
  ): Promise<void>
}

interface AppFile extends KeptFile {
  /** Its name changes with its content. */
  isLasting: boolean
}

/** Any other path is not the app's to answer. */
const pages = new RegExp(`^(?:${pageAddresses.map((page) => page.replaceAll(/\$\w+/g, '[^/]+')).join('|')})$`)
const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
}

export function createAppFiles(folder: string, consentOrigins: readonly string[]): AppFiles {
  let files: ReadonlyMap<string, AppFile> | null = null

  return {
    isAt: (path) => pages.test(path) || (path !== indexPath && loadFiles().has(path)),
    async answer(request, response, path, site, status = 200) {
      const isPage = status === 404 || pages.test(path)
      const file = loadFiles().get(isPage ? indexPath : path)
      if (!file) return notBuilt(request, response, site)
      const shown = isPage ? indexFor(file, site) : file
      const headers: Record<string, string> = {
        ...safetyHeaders(site),
        'Content-Type': shown.type,
        'Cache-Control': cacheControl(isPage, shown),
        ...(isPage
          ? { 'Content-Security-Policy': contentPolicy(consentOrigins) }
          : { ETag: shown.etag, Vary: 'Accept-Encoding' }),
      }
      if (!isPage && isKnown(request, shown)) {
        response.writeHead(304, headers).end()
        return
      }
      const { body, coding } = await bodyFor(request, shown)
      if (coding !== null) headers['Content-Encoding'] = coding
      response.writeHead(status, { ...headers, 'Content-Length': body.byteLength })
      response.end(request.method === 'HEAD' ? undefined : body)
    },
  }

  /** Looked for again as long as there is nothing: it may be built while the server runs. */
  function loadFiles(): ReadonlyMap<string, AppFile> {
    files ??= load(folder)
    return files ?? new Map()
  }
}

const indexPath = '/index.html'

function load(folder: string): Map<string, AppFile> | null {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    const found = entries.filter((entry) => entry.isFile() && types[extname(entry.name)])
    const files = new Map(
      found.map((entry) => {
        const path = join(entry.parentPath, entry.name)
        const brotli = readFileIfThere(`${path}.br`)
        return [path.slice(folder.length).replaceAll('\\', '/'), fileOf(path, readFileSync(path), brotli)]
      }),
    )
    return files.has(indexPath) ? files : null
  } catch {
    return null
  }
}

function readFileIfThere(path: string): Buffer | null {
  return existsSync(path) ? readFileSync(path) : null
}

function fileOf(path: string, bytes: Buffer, brotli: Buffer | null = null): AppFile {
  const type = types[extname(path)] ?? 'application/octet-stream'
  return { ...keptFile(type, bytes, brotli), isLasting: /[/\\]assets[/\\]/.test(path) }
}

const indexes = new WeakMap<AppFile, Map<string, AppFile>>()

/** Where a proxy takes a part of the path away, the page must put it back. */
function indexFor(file: AppFile, { basePath }: Site): AppFile {
  const known = indexes.get(file) ?? new Map<string, AppFile>()
  indexes.set(file, known)
  const made = known.get(basePath)
  if (made) return made
  const text = file.bytes
    .toString()
    .replaceAll(/(src|href)="\.?\//g, `$1="${basePath}/`)
    .replace('name="rowport-base" content=""', `name="rowport-base" content="${basePath}"`)
  const index = fileOf(indexPath, Buffer.from(text))
  known.set(basePath, index)
  return index
}

function cacheControl(isPage: boolean, { isLasting }: AppFile): string {
  if (isPage) return 'no-store'
  return isLasting ? 'public, max-age=31536000, immutable' : 'no-cache'
}

const notBuiltText = `<!doctype html><html lang="en"><title>Rowport</title><h1>Rowport is running</h1>
<p>The API answers. The dashboard has not been built yet: stop the server and start it with <code>npm start</code>.</p>
`

function notBuilt(request: IncomingMessage, response: ServerResponse, site: Site): void {
  response.writeHead(503, {
    ...safetyHeaders(site),
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Content-Type': types['.html'] ?? '',
    'Cache-Control': 'no-store',
    'Content-Length': Buffer.byteLength(notBuiltText),
  })
  response.end(request.method === 'HEAD' ? undefined : notBuiltText)
}
