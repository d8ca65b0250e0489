import { utimes } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeXlsx } from 'hucre/xlsx'
import { generateApiKey } from '../../src/admission/api-key.ts'
import { ownPage } from '../connect/visitor.ts'
import { times } from '../soak.ts'
import {
  type Attacker,
  attackerAddress,
  type ConnectedFile,
  largeCsv,
  type Neighbourhood,
  type StoreKind,
} from './neighbourhood.ts'

/** One way to take what is there for all. */
export interface Attack {
  name: string
  /** Without it: everywhere. Files are uploaded on the embedded default alone. */
  on?: StoreKind
  /** Tried in `npm test` as well. */
  isQuick?: true
  /** What has to be there first; the victim is not looked at meanwhile. */
  prepare?(street: Neighbourhood): Promise<void>
  /** Goes on until `isOver`; answers with what the attacker got. */
  run(street: Neighbourhood, isOver: () => boolean): Promise<Tally>
}

export type Tally = Map<string, number>

/** Nearly as much as may be uploaded. */
const largeMegabytes = times(4, 49)
const wideColumns = 300_000
/** What is longer is read among the large. */
const passingBytes = 255 * 1024
/** Accounts that ask all at once; those of the last street come last. */
const crowd: Attacker[] = []
const passing: (ConnectedFile & { attacker: Attacker })[] = []
/** A form with as many texts as it may have, and such as are dear to show. */
const dearForms = new WeakMap<Neighbourhood, string>()

export const attacks: readonly Attack[] = [
  {
    name: 'previews of a large file',
    on: 'embedded',
    async prepare({ attacker }) {
      await uploaded(attacker, 'large.csv', largeCsv(largeMegabytes))
    },
    run: ({ attacker }, isOver) =>
      many(times(20, 100), isOver, () => attacker.call('POST', '/preview', source('large.csv'))),
  },
  {
    name: 'first reads of many large sheets',
    async prepare(street) {
      const csv = largeCsv(largeMegabytes)
      for (let n = 0; n < 8; n++) await street.connectFile('attacker', `large-${n}`, csv)
    },
    run: ({ attacker, folder }, isOver) =>
      many(16, isOver, async (n) => {
        // Saved again, it has to be read again.
        await utimes(join(folder, `attacker-large-${n % 8}.csv`), new Date(), new Date())
        return keyed(attacker, `/api/sheets/attacker/large-${n % 8}?limit=1`, { 'Cache-Control': 'no-cache' })
      }),
  },
  {
    name: 'files that just pass for small, of five accounts',
    async prepare(street) {
      const csv = largeCsv(passingBytes / 2 ** 20).slice(0, passingBytes)
      const workbook = await passingWorkbook()
      for (let n = 0; n < 5; n++) {
        const account = `passing-${n}`
        const attacker = await street.newAttacker(account)
        const files = [
          await street.connectFile(account, 'csv', csv),
          await street.connectFile(account, 'xlsx', workbook),
        ]
        passing.push(...files.map((file) => ({ attacker, ...file })))
      }
    },
    run: (_street, isOver) =>
      many(20, isOver, async (n) => {
        const one = passing[n % passing.length]
        if (!one) throw new Error('Nothing was made ready')
        await utimes(one.file, new Date(), new Date())
        return keyed(one.attacker, `${one.path}?limit=1`, { 'Cache-Control': 'no-cache' })
      }),
  },
  {
    name: 'a file with far too many columns',
    isQuick: true,
    on: 'embedded',
    async prepare({ attacker }) {
      const names = Array.from({ length: wideColumns }, (_, n) => `c${n}`).join(',')
      await uploaded(attacker, 'wide.csv', `${names}\n1,2,3\n`)
    },
    run: ({ attacker }, isOver) =>
      many(4, isOver, (n) =>
        n % 2
          ? attacker.call('POST', '/preview', source('wide.csv'))
          : attacker.call('POST', '/sheets', connectWish(`wide-${n}`, 'wide.csv')),
      ),
  },
  {
    name: 'descriptions of the widest sheet that there may be',
    isQuick: true,
    async prepare(street) {
      const names = Array.from({ length: 2_000 }, (_, n) => `a column with a longer name ${n}`).join(',')
      const row = (r: number) =>
        Array.from({ length: 2_000 }, (_, n) => (n % 3 ? `text ${n}` : n * r)).join(',')
      await street.connectFile(
        'attacker',
        'wide',
        `${names}\n${Array.from({ length: 50 }, (_, r) => row(r)).join('\n')}\n`,
      )
    },
    run: ({ attacker }, isOver) => {
      const paths = ['/openapi.json', '/schema', '?limit=1', '/2', '?values=formatted', '?format=csv']
      return many(6, isOver, (n) =>
        keyed(
          attacker,
          `/api/sheets/attacker/wide${paths[n % paths.length]}`,
          {},
          n % 4 === 0 ? 'HEAD' : 'GET',
        ),
      )
    },
  },
  {
    name: 'long lists in every coding',
    async prepare(street) {
      await street.connectFile('attacker', 'long', largeCsv(times(8, 100)), ['--cache-seconds', '3600'])
      await keyed(street.attacker, '/api/sheets/attacker/long?limit=1')
    },
    run: ({ attacker }, isOver) => {
      const codings = ['gzip', 'br', 'zstd']
      const shapes = ['', '?format=csv', '?format=ndjson', '?row_numbers=true', '?sort=-column%201']
      return many(12, isOver, (n) =>
        keyed(
          attacker,
          `/api/sheets/attacker/long${shapes[n % shapes.length]}`,
          { 'Accept-Encoding': codings[n % 3] ?? '' },
          n % 2 ? 'HEAD' : 'GET',
        ),
      )
    },
  },
  {
    name: 'dear queries',
    async prepare(street) {
      await street.connectFile('attacker', 'queried', largeCsv(times(4, 10)), ['--cache-seconds', '3600'])
      await keyed(street.attacker, '/api/sheets/attacker/queried?limit=1')
    },
    run: ({ attacker }, isOver) => {
      const keys = Array.from({ length: 10 }, (_, n) => `column%20${n}`)
      const values = Array.from({ length: 1_000 }, (_, n) => n * 7).join(',')
      const queries = [
        `?sort=${keys.join(',')}`,
        `?column%201[in]=${values}`,
        '?q=rd%209',
        `?column%200[contains]=9&sort=-column%204&limit=5&offset=30000`,
      ]
      return many(8, isOver, (n) =>
        keyed(attacker, `/api/sheets/attacker/queried${queries[n % queries.length]}`),
      )
    },
  },
  { name: 'idle connections', run: holdConnections(() => 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n') },
  { name: 'headers that never end', run: holdConnections(() => 'GET /healthz HTTP/1.1\r\nHost: x\r\n') },
  {
    name: 'readers that do not read',
    async prepare(street) {
      await street.connectFile('attacker', 'unread', largeCsv(times(4, 50)), ['--cache-seconds', '3600'])
      await keyed(street.attacker, '/api/sheets/attacker/unread?limit=1')
    },
    run: holdConnections(
      ({ apiKey }) =>
        `GET /api/sheets/attacker/unread HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\n` +
        `Accept-Encoding: gzip\r\n\r\n`,
      { isReading: false },
    ),
  },
  {
    name: 'long answers for the journal',
    async prepare(street) {
      await street.connectFile('attacker', 'journal', 'name,text\nfirst,x\n')
    },
    run({ attacker }, isOver) {
      const text = 'x'.repeat(45_000)
      const rows = Array.from({ length: 20 }, (_, n) => ({ name: `row ${n}`, text }))
      return many(4, isOver, (n) =>
        attacker.ask({
          path: '/api/sheets/attacker/journal',
          method: 'POST',
          headers: { Authorization: `Bearer ${attacker.apiKey}`, 'Idempotency-Key': `${process.pid}-${n}` },
          body: JSON.stringify(rows),
        }),
      )
    },
  },
  {
    name: 'files of one byte',
    on: 'embedded',
    run: ({ attacker }, isOver) =>
      many(8, isOver, (n) => attacker.call('POST', `/files?name=tiny-${n}.csv`, Buffer.from('a'))),
  },
  {
    name: 'sheets without end',
    on: 'embedded',
    async prepare({ attacker }) {
      await uploaded(attacker, 'small.csv', 'a,b\n1,2\n')
    },
    run: ({ attacker }, isOver) =>
      many(8, isOver, (n) => attacker.call('POST', '/sheets', connectWish(`flood-${n}`, 'small.csv'))),
  },
  {
    name: 'guesses at passwords',
    isQuick: true,
    run: ({ attacker }, isOver) =>
      many(20, isOver, (n) =>
        attacker.call(
          'POST',
          '/sign-in',
          JSON.stringify({ email: `p${n}@example.com`, password: 'guess guess' }),
        ),
      ),
  },
  {
    name: 'ways to Google that nobody goes',
    run: ({ attacker }, isOver) =>
      many(20, isOver, () => attacker.ask({ path: `/dashboard/google/sign-in?next=/${'x'.repeat(8_000)}` })),
  },
  {
    name: 'the owner API, as often as it goes',
    run: ({ attacker }, isOver) => {
      const paths = ['/sheets', '/keys', '/usage', '/start', '/export', '/shares']
      return many(10, isOver, (n) => attacker.call('GET', paths[n % paths.length] ?? ''))
    },
  },
  {
    name: 'the owner API, five hundred calls at a time, of three accounts',
    async prepare(street) {
      for (let n = 0; n < 3; n++) crowd.push(await street.newAttacker(`crowd-${crowd.length}`))
    },
    async run(_street, isOver) {
      const tally: Tally = new Map()
      const key = JSON.stringify({ name: 'k', mode: 'live', scope: 'read', sheetSlug: null })
      while (!isOver()) {
        const answers = await Promise.all(
          crowd
            .slice(-3)
            .map((attacker) =>
              Promise.all(Array.from({ length: 167 }, () => attacker.call('POST', '/keys', key))),
            ),
        )
        for (const { status, body } of answers.flat())
          count(tally, `${status}${status < 400 ? '' : ` ${/"code":"(\w+)"/.exec(body)?.[1] ?? ''}`}`)
      }
      return tally
    },
  },
  {
    name: 'sessions and keys that nobody has, as often as it goes',
    run: ({ attacker }, isOver) =>
      many(60, isOver, (n) => {
        if (n % 2 === 0) {
          const headers = { Authorization: `Bearer ${generateApiKey('live')}` }
          return attacker.ask({ path: '/v1/sheets', headers })
        }
        const headers = { ...ownPage, Cookie: `rowport=${String(n).padStart(43, 'x')}` }
        return attacker.ask({ path: '/dashboard/api/session', headers })
      }),
  },
  {
    name: 'names that nothing can have',
    isQuick: true,
    run: ({ attacker }, isOver) => {
      const paths = ['/api/sheets/a%00/x', '/v1/sheets/%00', '/f/%00', '/docs/%00']
      return many(20, isOver, (n) => attacker.ask({ path: paths[n % paths.length] ?? '' }))
    },
  },
  {
    name: 'the page of a form, as often as it goes',
    prepare: makeDearForm,
    run: (street, isOver) =>
      many(40, isOver, () =>
        street.attacker.ask({ path: dearForms.get(street) ?? '', headers: { Accept: 'text/html' } }),
      ),
  },
  {
    name: 'entries to a form, as long as may be',
    isQuick: true,
    prepare: makeDearForm,
    run: (street, isOver) => {
      const nearlyEmails = `a@${'.'.repeat(9_990)}@`
      const bodies = [
        `a0=${'+'.repeat(990_000)}`,
        Array.from({ length: 20 }, (_, n) => `a${n}=${"'".repeat(49_000)}`).join('&'),
        Array.from({ length: 40 }, (_, n) => `a${n}=${nearlyEmails}`).join('&'),
      ]
      const headers = { Accept: 'text/html', 'Content-Type': 'application/x-www-form-urlencoded' }
      return many(4, isOver, (n) =>
        street.attacker.ask({
          ...{ path: dearForms.get(street) ?? '', method: 'POST' },
          ...{ headers, body: bodies[n % bodies.length] ?? '' },
        }),
      )
    },
  },
  {
    name: 'docs with their own addresses, as often as it goes',
    run: ({ attacker }, isOver) => {
      const paths = ['/docs', '/docs/operating', '/docs/api', '/docs/contract.md']
      const headers = { Cookie: attacker.cookie }
      return many(10, isOver, (n) => attacker.ask({ path: paths[n % paths.length] ?? '', headers }))
    },
  },
]

async function makeDearForm(street: Neighbourhood): Promise<void> {
  if (dearForms.has(street)) return
  const columns = Array.from({ length: 41 }, (_, n) => `a${n}`)
  await street.connectFile('attacker', 'dear-form', `${columns.join(',')}\n`)
  const usual = { label: 'a', help: '', isRequired: false }
  const fields = columns.map((column, n) =>
    n === 40
      ? { ...usual, column, kind: 'choice', choices: Array.from({ length: 14 }, () => "'".repeat(950)) }
      : { ...usual, column, kind: 'email', choices: [] },
  )
  const texts = { intro: '', thanks: '', next: null, honeypot: '_gotcha', minSeconds: 0, captcha: null }
  const limits = { entriesPerMinute: 1_000, entriesPerHour: 100_000, framedBy: [], origins: [], set: [] }
  const wish = { name: 'Dear', sheetSlug: 'dear-form', settings: { ...texts, ...limits, fields } }
  const { status, body } = await street.attacker.call('POST', '/forms', JSON.stringify(wish))
  const id = /"id":"(\w+)"/.exec(body)?.[1]
  if (status !== 201 || !id) throw new Error(`The form was not made: ${status} ${body}`)
  dearForms.set(street, `/f/${id}`)
}

function keyed(attacker: Attacker, path: string, headers: Record<string, string> = {}, method = 'GET') {
  return attacker.ask({ path, method, headers: { Authorization: `Bearer ${attacker.apiKey}`, ...headers } })
}

/** What is not there attacks nobody. */
async function uploaded(attacker: Attacker, name: string, content: string): Promise<void> {
  const { status, body } = await attacker.call('POST', `/files?name=${name}`, Buffer.from(content))
  if (status !== 201) throw new Error(`${name} was not taken: ${status} ${body}`)
}

function source(path: string): string {
  return JSON.stringify({ provider: 'file', path, tab: null })
}

function connectWish(slug: string, path: string): string {
  return JSON.stringify({ slug, access: 'private', source: { provider: 'file', path, tab: null } })
}

/** As many rows as fit: packed, they are short. */
async function passingWorkbook(): Promise<Uint8Array> {
  let rows = 6_300
  for (;;) {
    const names = Array.from({ length: 10 }, (_, at) => `column ${at}`)
    const cells = Array.from({ length: rows }, (_, n) => names.map((_name, at) => (n * 31 + at) % 997))
    const workbook = await writeXlsx({ sheets: [{ name: 'Sheet1', rows: [names, ...cells] }] })
    const { byteLength } = workbook
    if (byteLength > passingBytes * 0.9 && byteLength <= passingBytes) return workbook
    rows = Math.floor((rows * passingBytes * 0.95) / byteLength)
  }
}

/** Keeps so many under way at once. */
async function many(
  atOnce: number,
  isOver: () => boolean,
  one: (n: number) => Promise<{ status: number; body: string }>,
): Promise<Tally> {
  const tally: Tally = new Map()
  let begun = 0
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (!isOver()) {
        const { status, body } = await one(begun++)
        const code = status < 400 ? '' : ` ${/"code":"(\w+)"/.exec(body)?.[1] ?? ''}`
        count(tally, `${status}${code}`)
        // Refused at once, it would be a test of this loop.
        if (status === 429 || status === 0) await sleep(50)
      }
    }),
  )
  return tally
}

function holdConnections(says: (attacker: Attacker) => string, { isReading = true } = {}): Attack['run'] {
  const connections = times(2_000, 10_000)
  return async ({ server, attacker }, isOver) => {
    const tally: Tally = new Map()
    const open = new Set<Socket>()
    // Faster than anybody opens them by hand, and slow enough not to be a flood of packets, which is for a firewall.
    while (!isOver()) {
      for (let n = 0; n < 50 && open.size < connections; n++) hold()
      await sleep(50)
    }
    count(tally, 'still open', open.size)
    for (const socket of open) socket.destroy()
    return tally

    function hold(): void {
      const socket = connect({ host: '127.0.0.1', port: server.port, localAddress: attackerAddress })
      open.add(socket)
      count(tally, 'tried')
      socket.once('connect', () => {
        socket.write(says(attacker))
        if (isReading) socket.resume()
        else socket.pause()
      })
      socket.once('error', () => {})
      socket.once('close', () => {
        open.delete(socket)
        if (!isOver()) count(tally, 'closed')
      })
    }
  }
}

function count(tally: Tally, what: string, by = 1): void {
  tally.set(what, (tally.get(what) ?? 0) + by)
}
