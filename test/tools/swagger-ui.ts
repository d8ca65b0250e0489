import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { launchChromium } from '../servers/chromium.ts'
import type { SheetOfKind } from './sheet-kinds.ts'

const dist = join(import.meta.dirname, 'node_modules', 'swagger-ui-dist')
const types: Record<string, string> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.html': 'text/html',
  '.json': 'application/json',
}

/** "Try it out", "Execute", nothing typed: what a person sees first, on a page of another origin. */
export async function executeUntouched(key: { value: string }, sheets: readonly SheetOfKind[]) {
  const told = { pages: 0, rows: 0, problems: [] as string[] }
  const documents = new Map(sheets.map(({ documentText }, at) => [`/${at}.json`, documentText]))
  const site = createServer(async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://site').pathname
    const made = documents.get(path) ?? (path.startsWith('/page') ? pageOf(path.slice(5), key) : null)
    const content = made ?? (await readFile(join(dist, path)).catch(() => null))
    const type = path.startsWith('/page') ? '.html' : extname(path)
    response.setHeader('Content-Type', types[type] ?? 'application/octet-stream')
    response.writeHead(content === null ? 404 : 200).end(content ?? '')
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  const browser = await launchChromium()
  try {
    const page = await browser.newPage()
    for (const [at, { kind, rows }] of sheets.entries()) {
      await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/page${at}`)
      await page.locator('#operations-Rows-listRows .opblock-summary-control').click()
      await page.getByRole('button', { name: 'Try it out' }).click()
      await page.getByRole('button', { name: 'Execute' }).click()
      const answer = page.locator('.live-responses-table .response')
      const status = (await answer.locator('.response-col_status').textContent())?.trim() ?? ''
      const text = (await answer.locator('.highlight-code code').first().textContent()) ?? ''
      const sent = (await page.locator('.request-url').textContent()) ?? ''
      told.pages++
      const shown = status.startsWith('200') ? (JSON.parse(text) as object[]) : []
      told.rows += shown.length
      if (shown.length !== Math.min(10, rows.length))
        told.problems.push(`${kind}: ${status} ${text} ${sent}`.slice(0, 600))
      if (sent.includes(key.value)) told.problems.push(`${kind}: the key is in the address`)
    }
  } finally {
    await browser.close()
    site.close()
  }
  return told
}

function pageOf(at: string, { value }: { value: string }): string {
  return `<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="/swagger-ui.css"><div id="ui"></div>
<script src="/swagger-ui-bundle.js"></script><script>
const ui = SwaggerUIBundle({ url: '/${at}.json', dom_id: '#ui', defaultModelsExpandDepth: -1,
  onComplete: () => ui.preauthorizeApiKey('bearer', ${JSON.stringify(value)}) })
</script>`
}
