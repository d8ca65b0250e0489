import assert from 'node:assert/strict'
import { request } from 'node:http'
import { done, type Rowport } from '../harness.ts'

/** A person at the dashboard, as far as its API goes: one cookie jar, and the headers that a browser would send. */
export interface Visitor {
  /** The session as it was last told to be kept, `name=value`; '' for none. */
  cookie: string
  /** Any path of the server, as a browser opens it. */
  get(path: string, headers?: Record<string, string>): Promise<Seen>
  /** A verb of the owner's API, as the app calls it. */
  call<Json>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Seen & { json: Json }>
}

export interface Seen {
  status: number
  headers: Record<string, string>
  /** All that were set. */
  setCookies: string[]
  text: string
  location: string
}

/** What our own pages send with a write. */
export const ownPage = { 'Sec-Fetch-Site': 'same-origin', 'X-Rowport-Dashboard': '1' }

export function createVisitor(rowport: Pick<Rowport, 'port'>): Visitor {
  const others = new Map<string, string>()
  const visitor: Visitor = {
    cookie: '',
    get: (path, headers = {}) => ask('GET', path, null, headers),
    async call(method, path, body, headers = ownPage) {
      const type = body === undefined ? {} : { 'Content-Type': 'application/json' }
      const text = body === undefined ? null : JSON.stringify(body)
      const seen = await ask(method, `/dashboard/api${path}`, text, { ...type, ...headers })
      return {
        ...seen,
        json: seen.text.startsWith('{') || seen.text.startsWith('[') ? JSON.parse(seen.text) : null,
      }
    },
  }
  return visitor

  async function ask(method: string, path: string, body: string | null, headers: Record<string, string>) {
    const jar = [visitor.cookie, ...others.values()].filter((pair) => pair !== '').join('; ')
    const cookie = jar === '' ? {} : { Cookie: jar }
    const seen = await exchange({ method, path, headers: { ...cookie, ...headers } }, body)
    for (const set of seen.setCookies) {
      const [pair = ''] = set.split(';')
      const kept = pair.endsWith('=') ? '' : pair
      if (/^(?:__Host-)?rowport=/.test(pair)) visitor.cookie = kept
      else others.set(pair.split('=', 1)[0] ?? '', kept)
    }
    return seen
  }

  function exchange(
    wanted: { method: string; path: string; headers: Record<string, string> },
    body: string | null,
  ): Promise<Seen> {
    return new Promise((resolve, reject) => {
      // A connection that is kept has idled for as long as a test moves the clock, and may be closed in the moment in which it is used.
      const to = { host: '127.0.0.1', port: rowport.port, agent: false }
      const sent = request({ ...to, ...wanted }, async (answer) => {
        let text = ''
        for await (const chunk of answer.setEncoding('utf8')) text += chunk
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers as Record<string, string>,
          setCookies: answer.headers['set-cookie'] ?? [],
          text,
          location: answer.headers.location ?? '',
        })
      })
      sent.on('error', reject)
      sent.end(body ?? undefined)
    })
  }
}

/** Through a link, as an operator would hand it out. */
export async function signedIn(rowport: Rowport, account = 'acme'): Promise<Visitor> {
  const visitor = createVisitor(rowport)
  const { token } = done(await rowport.workshop.signIn.createLink(account))
  const answer = await visitor.call('POST', '/sign-in-link', { token })
  assert.equal(answer.status, 200, answer.text)
  assert.notEqual(visitor.cookie, '')
  return visitor
}

/** The message of a refusal, or ''. */
export function refusalIn({ json }: { json: unknown }): string {
  const { error } = (json ?? {}) as { error?: { message?: string } }
  return error?.message ?? ''
}
