import type { IncomingMessage, ServerResponse } from 'node:http'
import type { SignIn } from '../../management/people/sign-in.ts'
import type { Sheets } from '../../management/sheets/sheets.ts'
import { safetyHeaders } from '../page-headers.ts'
import { sessionIdIn } from '../session-cookie.ts'
import type { Site } from '../site.ts'
import { docStyle } from './doc-style.ts'
import { type DocPage, readLibrary } from './library.ts'
import { escapeHtml, type RenderedPage, renderMarkdown } from './markdown.ts'

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
}

/** Whose addresses stand in the examples; those of the sample for a reader who is not signed in. */
interface Reader {
  isSignedIn: boolean
  accountSlug: string
  sheetSlug: string
  sheetSlugs: readonly string[]
}

const sample: Reader = { isSignedIn: false, accountSlug: 'demo', sheetSlug: 'products', sheetSlugs: [] }

const listPath = '/llms.txt'
const stylePath = '/docs/style.css'

export function createDocs({ docsFolder, signIn, sheets }: DocsParts): Docs {
  let library: DocPage[] | null = null
  const forStrangers = new Map<string, string>()
  const pages = () => {
    library ??= readLibrary(docsFolder)
    return library
  }
  const pageAt = (path: string) =>
    pages().find(({ name }) => path === `/docs/${name}` || path === `/docs/${name}.md`)

  return {
    isAt: (path) =>
      path === '/docs' ||
      path === '/docs.md' ||
      path === listPath ||
      path === stylePath ||
      pageAt(path) !== undefined,
    async answer(request, response, path, query, site) {
      const send = (type: string, text: string, cacheControl: string) => {
        const body = Buffer.from(text)
        response.writeHead(200, {
          ...safetyHeaders(site),
          'Content-Security-Policy':
            "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
          'Content-Type': `${type}; charset=utf-8`,
          'Cache-Control': cacheControl,
          'Content-Length': body.byteLength,
        })
        response.end(request.method === 'HEAD' ? undefined : body)
      }
      if (path === stylePath) return send('text/css', docStyle, 'no-cache')
      const reader = await readerOf(request, query, site)
      // With somebody's own addresses in it, it is for them alone.
      const cacheControl = reader.isSignedIn ? 'no-store' : 'no-cache'
      if (path === listPath || path === '/docs.md')
        return send('text/plain', listOf(pages(), site), cacheControl)
      const page = pageAt(path)
      const text = page ? addressed(page.text, reader, site) : contentsOf(pages(), reader, site)
      if (path.endsWith('.md')) return send('text/markdown', text, cacheControl)
      return send('text/html', pageFor(reader, page, text, site), cacheControl)
    },
  }

  /** The same for all strangers, and made once for them: a long page takes milliseconds. */
  function pageFor(reader: Reader, page: DocPage | undefined, text: string, site: Site): string {
    const name = `${site.baseUrl} ${page?.name ?? ''}`
    const known = reader.isSignedIn ? undefined : forStrangers.get(name)
    if (known !== undefined) return known
    const rendered = renderMarkdown(text, (target) => linkFrom(page?.name ?? 'index', target, pages(), site))
    const html = htmlOf(rendered, page, pages(), reader, site)
    if (!reader.isSignedIn) forStrangers.set(name, html)
    return html
  }

  async function readerOf(request: IncomingMessage, query: URLSearchParams, site: Site): Promise<Reader> {
    const sessionId = sessionIdIn(request, site)
    const session = sessionId === null ? null : await signIn.find(sessionId)
    if (!session) return sample
    const all = await sheets.list(session.account)
    const sheetSlugs = all.map(({ slug }) => slug)
    const asked = query.get('sheet')
    const sheetSlug = sheetSlugs.find((slug) => slug === asked) ?? sheetSlugs[0] ?? sample.sheetSlug
    return { isSignedIn: true, accountSlug: session.account.slug, sheetSlug, sheetSlugs }
  }
}

/** The addresses that the docs are written with are those of a fresh start on one's own machine. */
function addressed(text: string, { accountSlug, sheetSlug }: Reader, { baseUrl }: Site): string {
  return text
    .replaceAll('http://localhost:8787', baseUrl)
    .replaceAll('https://…/', `${baseUrl}/`)
    .replaceAll('/api/sheets/demo/products', `/api/sheets/${accountSlug}/${sheetSlug}`)
    .replaceAll('demo/products', `${accountSlug}/${sheetSlug}`)
}

/** llmstxt.org: a title, a sentence, and where to read what. */
function listOf(pages: readonly DocPage[], { baseUrl }: Site): string {
  const groups = [...new Set(pages.map(({ group }) => group))].map((group) => {
    const lines = pages
      .filter((page) => page.group === group)
      .map(({ name, title, summary }) => `- [${title}](${baseUrl}/docs/${name}.md): ${summary}`)
    return `## ${group}\n\n${lines.join('\n')}\n`
  })
  return `# Rowport\n\n> A spreadsheet behind a JSON API. This server: ${baseUrl}\n\nOpenAPI of the whole API: ${baseUrl}/openapi.json. Each sheet describes itself, at its address with /openapi.json or /schema behind it.\n\n${groups.join('\n')}`
}

/** The first page. */
function contentsOf(pages: readonly DocPage[], reader: Reader, { baseUrl }: Site): string {
  const address = `${baseUrl}/api/sheets/${reader.accountSlug}/${reader.sheetSlug}`
  const groups = [...new Set(pages.map(({ group }) => group))].map((group) => {
    const lines = pages
      .filter((page) => page.group === group)
      .map(({ name, title, summary }) => `- [${title}](${name}.md): ${summary}`)
    return `## ${group}\n\n${lines.join('\n')}\n`
  })
  return `# Docs

A sheet is rows of JSON at an address. Send a key, and read it:

\`\`\`sh
curl -H 'Authorization: Bearer YOUR_API_KEY' \\
  '${address}?limit=10'
\`\`\`

${groups.join('\n')}
## For programs

- OpenAPI of this sheet: \`${address}/openapi.json\`, and of the whole API: \`${baseUrl}/openapi.json\`
- JSON Schema of its rows: \`${address}/schema\`
- These pages as Markdown: put \`.md\` behind an address. A list of them: \`${baseUrl}/llms.txt\`
`
}

/** Links are written as they hold in the repository; those that lead to what is not served are shown as text. */
function linkFrom(
  from: string,
  target: string,
  pages: readonly DocPage[],
  { basePath }: Site,
): string | null {
  if (/^https?:\/\//.test(target) || target.startsWith('#')) return target
  const { pathname, hash } = new URL(target, `http://docs/docs/${from}`)
  const name = pathname.replace(/^\/docs\//, '').replace(/\.md$/, '')
  return pages.some((page) => page.name === name) ? `${basePath}/docs/${name}${hash}` : null
}

function htmlOf(
  { title, html }: RenderedPage,
  page: DocPage | undefined,
  pages: readonly DocPage[],
  reader: Reader,
  { basePath, baseUrl }: Site,
): string {
  const groups = [...new Set(pages.map(({ group }) => group))].map((group) => {
    const links = pages
      .filter((each) => each.group === group)
      .map((each) => {
        const isHere = each === page ? ' aria-current="page"' : ''
        const query = reader.sheetSlugs.length > 1 ? `?sheet=${reader.sheetSlug}` : ''
        return `<li><a href="${basePath}/docs/${each.name}${query}"${isHere}>${escapeHtml(each.title)}</a></li>`
      })
    return `<h2>${group}</h2><ul>${links.join('')}</ul>`
  })
  const shown = title === 'Docs' ? 'Docs' : `${title} · Docs`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(shown)} · Rowport</title><link rel="stylesheet" href="${basePath}${stylePath}"></head>
<body><a class="skip" href="#content">Skip to the text</a>
<header><a class="home" href="${basePath}/">Rowport</a><a href="${basePath}/docs">Docs</a>${reader.isSignedIn ? `<a href="${basePath}/sheets">Dashboard</a>` : `<a href="${basePath}/sign-in?next=%2F">Sign in</a>`}${chooserOf(reader)}</header>
<div class="page"><nav aria-label="Docs">${groups.join('')}</nav>
<main id="content">${html}
<p class="source">${reader.isSignedIn ? 'The examples have your own addresses.' : 'Sign in, and the examples have your own addresses.'} For programs: <a href="${basePath}/docs${page ? `/${page.name}` : ''}.md">this page as Markdown</a>, <a href="${baseUrl}${listPath}">all pages</a>.</p>
</main></div></body></html>
`
}

function chooserOf({ sheetSlugs, sheetSlug }: Reader): string {
  if (sheetSlugs.length < 2) return ''
  const options = sheetSlugs.map(
    (slug) => `<option${slug === sheetSlug ? ' selected' : ''}>${escapeHtml(slug)}</option>`,
  )
  return `<form><label for="sheet">Sheet in the examples</label><select id="sheet" name="sheet">${options.join('')}</select><button>Show</button></form>`
}
