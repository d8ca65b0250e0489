import type { IncomingMessage, ServerResponse } from 'node:http'
import { StoreFailure } from '../../errors.ts'
import type { OwnerPace } from '../../management/people/owner-pace.ts'
import type { SignIn } from '../../management/people/sign-in.ts'
import type { Sheets } from '../../management/sheets/sheets.ts'
import { bodyFor, isKnown, type KeptFile, keptFile } from '../kept-file.ts'
import { contentPolicy, safetyHeaders } from '../page-headers.ts'
import { sessionIdIn } from '../session-cookie.ts'
import type { Site } from '../site.ts'
import { contentsOf, listOf } from './contents.ts'
import { htmlOf, linkFrom, listPath, scriptPath, stylePath } from './doc-html.ts'
import { docScript } from './doc-script.ts'
import { docStyle } from './doc-style.ts'
import { type DocPage, readLibrary } from './library.ts'
import { type RenderedPage, renderMarkdown, withServedLinks } from './markdown.ts'
import { addressDocsTo, type Reader, stranger } from './reader.ts'

/** The docs that come with this server, as pages, as Markdown, and as a list for programs that read. They need no script. */
export interface Docs {
  isAt(path: string): boolean
  answer(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    query: URLSearchParams,
    site: Site,
  ): Promise<void>
}

export interface DocsParts {
  /** Where the Markdown lies. */
  docsFolder: string
  signIn: Pick<SignIn, 'find'>
  sheets: Pick<Sheets, 'list'>
  pace: Pick<OwnerPace, 'countCall'>
}

const indexPath = '/docs'
const indexListPath = '/docs.md'
/** Whoever reads them. */
const sameForAll = [indexListPath, listPath, stylePath, scriptPath]

export function createDocs({ docsFolder, signIn, sheets, pace }: DocsParts): Docs {
  let library: DocPage[] | null = null
  /** What all strangers get. */
  const forStrangers = new Map<string, KeptFile>()
  /** A long page takes milliseconds, which nobody may make the others wait for again and again. */
  const rendered = new Map<string, RenderedPage>()
  const pages = () => {
    library ??= readLibrary(docsFolder)
    return library
  }
  const pageAt = (path: string) =>
    pages().find(({ name }) => path === `/docs/${name}` || path === `/docs/${name}.md`) ?? null

  return {
    isAt: (path) => path === indexPath || sameForAll.includes(path) || pageAt(path) !== null,
    async answer(request, response, path, query, site) {
      const reader = sameForAll.includes(path) ? stranger : await readerOf(request, query, site)
      const send = (status: 200 | 304, type: string, more: Record<string, string>, body: Buffer) => {
        response.writeHead(status, {
          ...safetyHeaders(site),
          'Content-Security-Policy': contentPolicy([]),
          'Content-Type': `${type}; charset=utf-8`,
          Vary: 'Accept-Encoding, Cookie',
          ...more,
          ...(status === 200 && { 'Content-Length': body.byteLength }),
        })
        response.end(status === 304 || request.method === 'HEAD' ? undefined : body)
      }
      if (reader.isSignedIn) {
        const [type, text] = contentAt(path, reader, site)
        // With their own addresses in it, it is for them alone, and not worth the work of making it short.
        return send(200, type, { 'Cache-Control': 'no-store' }, Buffer.from(text))
      }
      const file = fileForStrangers(path, site)
      const kept = { 'Cache-Control': 'no-cache', ETag: file.etag }
      if (isKnown(request, file)) return send(304, file.type, kept, file.bytes)
      const { body, coding } = await bodyFor(request, file)
      send(200, file.type, { ...kept, ...(coding !== null && { 'Content-Encoding': coding }) }, body)
    },
  }

  function fileForStrangers(path: string, site: Site): KeptFile {
    const name = `${site.baseUrl} ${path}`
    const kept = forStrangers.get(name)
    if (kept) return kept
    const [type, text] = contentAt(path, stranger, site)
    const made = keptFile(type, Buffer.from(text))
    forStrangers.set(name, made)
    return made
  }

  function contentAt(path: string, reader: Reader, site: Site): [type: string, text: string] {
    if (path === stylePath) return ['text/css', docStyle]
    if (path === scriptPath) return ['text/javascript', docScript]
    if (path === listPath || path === indexListPath) return ['text/plain', listOf(pages(), site)]
    const page = pageAt(path)
    if (!page) {
      const contents = markdownToHtml('index', contentsOf(pages(), reader, site), site)
      return ['text/html', htmlOf(contents, null, pages(), reader, site)]
    }
    if (path.endsWith('.md')) {
      const text = withServedLinks(page.text, (target) => linkFrom(page.name, target, pages(), site) !== null)
      return ['text/markdown', addressDocsTo(page, text, reader, site)]
    }
    const made = renderOnce(page, site)
    const html = addressDocsTo(page, made.html, reader, site)
    return ['text/html', htmlOf({ ...made, html }, page, pages(), reader, site)]
  }

  function renderOnce({ name, text }: DocPage, site: Site): RenderedPage {
    const key = `${site.basePath} ${name}`
    const made = rendered.get(key) ?? markdownToHtml(name, text, site)
    rendered.set(key, made)
    return made
  }

  function markdownToHtml(name: string, text: string, site: Site): RenderedPage {
    return renderMarkdown(text, (target) => linkFrom(name, target, pages(), site))
  }

  /** Everybody may read the docs: whoever cannot be known, or asks too often, does as a stranger. */
  async function readerOf(request: IncomingMessage, query: URLSearchParams, site: Site): Promise<Reader> {
    const sessionId = sessionIdIn(request, site)
    if (sessionId === null) return stranger
    try {
      const session = await signIn.find(sessionId)
      if (!session) return stranger
      const { account, idHash } = session
      if (await pace.countCall({ accountId: account.id, sessionHash: idHash })) return stranger
      const connected = await sheets.list(account)
      const sheetSlugs = connected.map(({ slug }) => slug)
      const asked = query.get('sheet')
      const { slug: sheetSlug = stranger.sheetSlug, id: sheetId = stranger.sheetId } =
        connected.find(({ slug }) => slug === asked) ?? connected[0] ?? {}
      return { isSignedIn: true, accountSlug: account.slug, sheetSlug, sheetId, sheetSlugs }
    } catch (error) {
      if (error instanceof StoreFailure) return stranger
      throw error
    }
  }
}
