import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'
import { acceptedCoding, type Coding } from '../http/content-coding.ts'
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

interface AppFile {
  bytes: Buffer
  type: string
  etag: string
  /** Its name changes with its content. */
  isLasting: boolean
  compressed: Map<Coding, Promise<Buffer>>
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
const compressible = /^(?:text\/|image\/svg)/
const brotli = promisify(brotliCompress)
const gzipped = promisify(gzip)
const zstd = promisify(zstdCompress)
/** Each file is compressed once, so it may take longer than an answer that is made for one reader. */
const compressors: Record<Coding, (bytes: Buffer) => Promise<Buffer>> = {
  zstd: (bytes) => zstd(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 19 } }),
  br: (bytes) => brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes) => gzipped(bytes),
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
      if (!isPage && request.headers['if-none-match'] === shown.etag) {
        response.writeHead(304, headers).end()
        return
      }
      const coding = codingFor(request, shown)
      const body = coding === null ? shown.bytes : await compressed(shown, coding)
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
        return [path.slice(folder.length).replaceAll('\\', '/'), fileOf(path, readFileSync(path))]
      }),
    )
    return files.has(indexPath) ? files : null
  } catch {
    return null
  }
}

function fileOf(path: string, bytes: Buffer): AppFile {
  return {
    bytes,
    type: types[extname(path)] ?? 'application/octet-stream',
    etag: `"${hash('sha256', bytes, 'base64url').slice(0, 22)}"`,
    isLasting: /[/\\]assets[/\\]/.test(path),
    compressed: new Map(),
  }
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

function codingFor({ headers }: IncomingMessage, { type }: AppFile): Coding | null {
  return compressible.test(type) ? acceptedCoding(headers['accept-encoding']) : null
}

function compressed(file: AppFile, coding: Coding): Promise<Buffer> {
  const known = file.compressed.get(coding)
  if (known) return known
  const made = compressors[coding](file.bytes)
  file.compressed.set(coding, made)
  return made
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
