import { execFile } from 'node:child_process'
import { glob, readFile } from 'node:fs/promises'
import { request as ask, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'

export interface Check {
  scenario: string
  id: string
  status: string
  errorMessage: string
}

/** All scenarios of the official suite that are for servers of this version, with what they found. */
export async function runConformance(
  t: TestContext,
  { port, key, folder, version }: { port: number; key: string; folder: string; version: string },
): Promise<Check[]> {
  const url = `http://127.0.0.1:${await startKeyedProxy(t, port, key)}/mcp`
  const program = join(import.meta.dirname, 'node_modules/.bin/conformance')
  const out = join(folder, version)
  const args = ['server', '--url', url, '--suite', 'all', '--spec-version', version, '-o', out]
  // It ends with an error where anything failed; what did is read from its files.
  const ran = promisify(execFile)(process.execPath, [program, ...args], { timeout: 4 * 60_000 })
  await ran.catch((error) => {
    if (error.killed) throw error
  })
  const checks: Check[] = []
  for await (const path of glob(join(out, '*/checks.json'))) {
    const [, scenario = ''] = /server-([\w-]+?)-\d{4}-\d\d-\d\dT[^/]*\/checks\.json$/.exec(path) ?? []
    for (const { id, status, errorMessage = '' } of JSON.parse(await readFile(path, 'utf8')))
      checks.push({ scenario, id, status, errorMessage })
  }
  return checks
}

/** The suite has no way to send a key, so one stands between that adds it and leaves all else as it came, also `Host` and `Origin`. */
async function startKeyedProxy(t: TestContext, port: number, key: string): Promise<number> {
  const proxy = createServer((request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${key}` }
    const { method, url: path } = request
    const passed = ask({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
      response.once('close', () => answer.destroy())
    })
    passed.once('error', () => response.destroy())
    request.pipe(passed)
  })
  t.after(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return (proxy.address() as AddressInfo).port
}

/**
 * Most scenarios want a server that is made for the suite, with tools of its names ("test_image_content"), or capabilities that we do
 * not say that we have. What they ask for (scenario, check and message), and why we do not have it; all the rest must pass.
 */
const notForUs: readonly [asks: RegExp, why: string][] = [
  [/There is no tool (?:test|json)_|Tool 'json_schema_2020_12_tool' not found/, 'tools of the suite itself'],
  [/does not list the diagnostic tool|no tool with x-mcp-header/, 'tools of the suite itself'],
  [/InputRequiredResult/, 'tools of the suite itself'],
  [/Resource not found: test:\/\//, 'resources of the suite itself'],
  [/^(?:prompts-|input-required-result-non-tool-request )|prompts\/list/, 'no prompts'],
  [/^(?:logging-set-level|tools-call-with-logging) /, 'no logging: the dashboard has the log of requests'],
  [/^completion-complete /, 'no completions: describe_sheet tells the columns'],
  [/^resources-(?:un)?subscribe /, 'no sessions; since 2026 there is subscriptions/listen'],
  [/^server-sse-(?:polling|multiple-streams) /, 'no sessions, and no answer that is worth resuming'],
]

/** null where it must pass. */
export function whyNotForUs({ scenario, id, errorMessage }: Check): string | null {
  const said = `${scenario} ${id} ${errorMessage}`
  return notForUs.find(([asks]) => asks.test(said))?.[1] ?? null
}
