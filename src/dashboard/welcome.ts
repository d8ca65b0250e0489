import type { IncomingMessage, ServerResponse } from 'node:http'

/** The page at `/` until the dashboard is there: it says that the server runs and what to type next. */
export function createWelcome(baseUrl: string): (request: IncomingMessage, response: ServerResponse) => void {
  const page = Buffer.from(welcomePage(escaped(baseUrl)))
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': page.byteLength,
    'Cache-Control': 'no-cache',
    'Content-Security-Policy':
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  }
  return (request, response) => {
    response.writeHead(200, headers)
    response.end(request.method === 'HEAD' ? undefined : page)
  }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

function welcomePage(baseUrl: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Rowport</title>
<style>
  :root { color-scheme: light dark; --ink: #1c2024; --soft: #60646c; --line: #e0e3e7; --paper: #fcfcfd; --code: #f0f2f5; --go: #18794e }
  @media (prefers-color-scheme: dark) {
    :root { --ink: #edeef0; --soft: #a1a6ae; --line: #2f3237; --paper: #131417; --code: #1d1f23; --go: #3dd68c }
  }
  * { box-sizing: border-box }
  body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.6 system-ui, sans-serif }
  main { max-width: 44rem; margin: 0 auto; padding: 4rem 1.25rem }
  h1 { font-size: 1.75rem; line-height: 1.25; letter-spacing: -.02em; margin: .5rem 0 .75rem }
  h2 { font-size: 1rem; margin: 2.25rem 0 .5rem }
  p { color: var(--soft); margin: 0 0 .75rem }
  .state { color: var(--go); font-weight: 600; margin: 0 }
  .state::before { content: "●"; margin-right: .5rem }
  pre { background: var(--code); border: 1px solid var(--line); border-radius: 8px; padding: .75rem 1rem; overflow-x: auto; font: 13.5px/1.6 ui-monospace, monospace; margin: 0 }
  code { font: .9em ui-monospace, monospace; color: var(--ink) }
</style>
<main>
  <p class="state">Running</p>
  <h1>Your spreadsheets, behind a JSON API</h1>
  <p>Rowport serves the rows of a CSV or Excel file, with keys, at a stable address. The dashboard will live on this page; until then everything is a command away.</p>

  <h2>Read the sample sheet</h2>
  <p>The key was printed in the terminal at the first start.</p>
  <pre tabindex="0">curl -H 'Authorization: Bearer &lt;API key&gt;' \\
  ${baseUrl}/api/sheets/demo/products</pre>

  <h2>Connect a file of your own</h2>
  <pre tabindex="0">npm run rowport -- sheet connect demo/stock --file ./stock.xlsx</pre>

  <h2>Make a key</h2>
  <pre tabindex="0">npm run rowport -- key create demo --name laptop --scope read-write</pre>

  <h2>See what is there</h2>
  <pre tabindex="0">npm run rowport -- sheet list demo
npm run rowport -- key list demo</pre>
</main>
</html>
`
}
