import { utimes } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeXlsx } from 'hucre/xlsx'
import { generateApiKey } from '../../src/admission/api-key.ts'
import { ownPage } from '../connect/visitor.ts'
import { times } from '../soak.ts'
import { type Attack, count, keyed, many, ofAll, rowsOf, type Tally } from './attack.ts'
import { askPreview, askToConnect, bringTable } from './brought-table.ts'
import { changingAttacks } from './changing-attacks.ts'
import { hostileAttacks } from './hostile-attacks.ts'
import { leavingAttacks } from './leaving-attacks.ts'
import { type Attacker, attackerAddress, largeCsv, type Neighbourhood } from './neighbourhood.ts'

/** Nearly as much as may be uploaded. */
const largeMegabytes = times(4, 49)
/** The same as a spreadsheet, of which Google tells 64 MB at most, and 60 times a minute. */
const largeSpreadsheetMegabytes = times(1, 8)
/** Of a file, and as many as Google has. */
const wideColumns = { uploaded: 300_000, atGoogle: 18_278 }
/** What is longer is read among the large. */
const passingBytes = 255 * 1024
/** A form with as many texts as it may have, and such as are dear to show. */
const dearForms = new WeakMap<Attacker, string>()

const firstReads: Attack = {
  name: 'first reads of many large sheets',
  async prepare(street) {
    const csv = largeCsv(largeMegabytes)
    for (let n = 0; n < 8; n++) await street.connectFile(street.attacker.account, `large-${n}`, csv)
  },
  run: ({ attacker, folder }, isOver) =>
    many(16, isOver, async (n) => {
      // Saved again, it has to be read again.
      await utimes(join(folder, `${attacker.account}-large-${n % 8}.csv`), new Date(), new Date())
      return keyed(attacker, `${rowsOf(attacker, `large-${n % 8}`)}?limit=1`, {
        'Cache-Control': 'no-cache',
      })
    }),
}

const longLists: Attack = {
  name: 'long lists in every coding',
  async prepare(street) {
    await street.connectFile(street.attacker.account, 'long', largeCsv(times(8, 100)), [
      '--cache-seconds',
      '3600',
    ])
    await keyed(street.attacker, `${rowsOf(street.attacker, 'long')}?limit=1`)
  },
  run: ({ attacker }, isOver) => {
    const codings = ['gzip', 'br', 'zstd']
    const shapes = ['', '?format=csv', '?format=ndjson', '?row_numbers=true', '?sort=-column%201']
    return many(12, isOver, (n) =>
      keyed(
        attacker,
        `${rowsOf(attacker, 'long')}${shapes[n % shapes.length]}`,
        { 'Accept-Encoding': codings[n % 3] ?? '' },
        n % 2 ? 'HEAD' : 'GET',
      ),
    )
  },
}

const dearQueries: Attack = {
  name: 'dear queries',
  async prepare(street) {
    await street.connectFile(street.attacker.account, 'queried', largeCsv(times(4, 10)), [
      '--cache-seconds',
      '3600',
    ])
    await keyed(street.attacker, `${rowsOf(street.attacker, 'queried')}?limit=1`)
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
      keyed(attacker, `${rowsOf(attacker, 'queried')}${queries[n % queries.length]}`),
    )
  },
}

/** What takes threads, what takes compressors and what takes turns at once, each of an account that has asked for nothing yet. */
const combined: Attack = {
  name: 'two accounts at once: dear queries and long lists in every coding, beside first reads of large sheets',
  accounts: 2,
  async prepare(street) {
    const [asking, reading] = halves(street)
    await dearQueries.prepare?.(asking)
    await longLists.prepare?.(asking)
    await firstReads.prepare?.(reading)
  },
  async run(street, isOver) {
    const [asking, reading] = halves(street)
    const runs = { queries: dearQueries.run(asking, isOver), lists: longLists.run(asking, isOver) }
    const all = { ...runs, 'first reads': firstReads.run(reading, isOver) }
    const tally: Tally = new Map()
    for (const [what, run] of Object.entries(all))
      for (const [got, times] of await run) count(tally, `${what} ${got}`, times)
    return tally
  },
}

export const attacks: readonly Attack[] = [
  {
    name: 'previews of a large file or spreadsheet',
    accounts: 1,
    prepare: (street) =>
      bringTable(street, 'large', largeCsv(street.google ? largeSpreadsheetMegabytes : largeMegabytes)),
    run: ({ attacker }, isOver) => many(times(20, 100), isOver, () => askPreview(attacker, 'large')),
  },
  firstReads,
  {
    name: 'files that just pass for small, of five accounts',
    accounts: 5,
    async prepare(street) {
      const csv = largeCsv(passingBytes / 2 ** 20).slice(0, passingBytes)
      const workbook = await passingWorkbook()
      for (const { account } of street.attackers) {
        await street.connectFile(account, 'csv', csv)
        await street.connectFile(account, 'xlsx', workbook)
      }
    },
    run: ({ attackers, folder }, isOver) =>
      many(20, isOver, async (n) => {
        const attacker = ofAll(attackers, n)
        const slug = Math.floor(n / attackers.length) % 2 ? 'xlsx' : 'csv'
        await utimes(join(folder, `${attacker.account}-${slug}.${slug}`), new Date(), new Date())
        return keyed(attacker, `${rowsOf(attacker, slug)}?limit=1`, { 'Cache-Control': 'no-cache' })
      }),
  },
  {
    name: 'a file or spreadsheet with far too many columns',
    isQuick: true,
    accounts: 1,
    async prepare(street) {
      const length = street.google ? wideColumns.atGoogle : wideColumns.uploaded
      const names = Array.from({ length }, (_, n) => `c${n}`).join(',')
      await bringTable(street, 'wide', `${names}\n1,2,3\n`)
    },
    run: ({ attacker }, isOver) =>
      many(4, isOver, (n) =>
        n % 2 ? askPreview(attacker, 'wide') : askToConnect(attacker, `wide-${n}`, 'wide'),
      ),
  },
  {
    name: 'descriptions of the widest sheet that there may be',
    isQuick: true,
    prepare: giveWidest,
    run: ({ attacker }, isOver) => {
      const paths = ['/openapi.json', '/schema', '?limit=1', '/2', '?values=formatted', '?format=csv']
      return many(6, isOver, (n) =>
        keyed(attacker, `${rowsOf(attacker, 'wide')}${ofAll(paths, n)}`, {}, n % 4 === 0 ? 'HEAD' : 'GET'),
      )
    },
  },
  {
    name: 'descriptions of the widest sheet, each under another name of the server',
    accounts: 1,
    async prepare(street) {
      await street.operate(['account', 'plan', street.attacker.account, 'pro', '--per-minute', '100000'])
      await giveWidest(street)
    },
    run: ({ attacker }, isOver) => {
      const paths = ['/openapi.json', '/schema', '/types.ts']
      const codings = ['identity', 'gzip', 'br', 'zstd']
      return many(6, isOver, (n) => {
        const coding = ofAll(codings, Math.floor(n / paths.length))
        const headers = { Host: `made-up-${n}.example`, 'Accept-Encoding': coding }
        return keyed(attacker, `${rowsOf(attacker, 'wide')}${ofAll(paths, n)}`, headers)
      })
    },
  },
  longLists,
  dearQueries,
  { name: 'idle connections', run: holdConnections(() => 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n') },
  { name: 'headers that never end', run: holdConnections(() => 'GET /healthz HTTP/1.1\r\nHost: x\r\n') },
  {
    name: 'headers that never end, from as many addresses as fill half of all places',
    run: holdConnections(() => 'GET / HTTP/1.1\r\nHost: x\r\n', {
      addresses: Array.from({ length: 12 }, (_, n) => `127.0.6.${n + 1}`),
    }),
  },
  {
    name: 'readers that do not read',
    async prepare(street) {
      await street.connectFile(street.attacker.account, 'unread', largeCsv(times(4, 50)), [
        '--cache-seconds',
        '3600',
      ])
      await keyed(street.attacker, `${rowsOf(street.attacker, 'unread')}?limit=1`)
    },
    run: holdConnections(
      (attacker) =>
        `GET ${rowsOf(attacker, 'unread')} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${attacker.apiKey}\r\n` +
        `Accept-Encoding: gzip\r\n\r\n`,
      { isReading: false },
    ),
  },
  {
    name: 'long answers for the journal',
    async prepare(street) {
      await street.connectFile(street.attacker.account, 'journal', 'name,text\nfirst,x\n')
    },
    run({ attacker }, isOver) {
      const text = 'x'.repeat(45_000)
      const rows = Array.from({ length: 20 }, (_, n) => ({ name: `row ${n}`, text }))
      return many(4, isOver, (n) =>
        attacker.ask({
          path: rowsOf(attacker, 'journal'),
          method: 'POST',
          headers: { Authorization: `Bearer ${attacker.apiKey}`, 'Idempotency-Key': `${process.pid}-${n}` },
          body: JSON.stringify(rows),
        }),
      )
    },
  },
  {
    name: 'sheets without end',
    accounts: 1,
    prepare: (street) => bringTable(street, 'small', 'a,b\n1,2\n'),
    run: ({ attacker }, isOver) => many(8, isOver, (n) => askToConnect(attacker, `flood-${n}`, 'small')),
  },
  {
    name: 'files of one byte, or long ones where none are taken',
    accounts: 1,
    run({ attacker, google }, isOver) {
      const file = Buffer.alloc(google ? times(1, 8) * 2 ** 20 : 1, 'a')
      return many(8, isOver, (n) => attacker.call('POST', `/files?name=tiny-${n}.csv`, file))
    },
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
    accounts: 3,
    async run({ attackers }, isOver) {
      const tally: Tally = new Map()
      const key = JSON.stringify({ name: 'k', mode: 'live', scope: 'read', sheetSlug: null })
      while (!isOver()) {
        const answers = await Promise.all(
          attackers.map((attacker) =>
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
        street.attacker.ask({ path: dearForms.get(street.attacker) ?? '', headers: { Accept: 'text/html' } }),
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
          ...{ path: dearForms.get(street.attacker) ?? '', method: 'POST' },
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
  ...changingAttacks,
  ...leavingAttacks,
  ...hostileAttacks,
  combined,
]

/** The same street, as each of the two who attack sees it. */
function halves(street: Neighbourhood): [Neighbourhood, Neighbourhood] {
  const of = (nth: number) => {
    const attacker = ofAll(street.attackers, nth)
    return { ...street, attacker, attackers: [attacker] }
  }
  return [of(0), of(1)]
}

async function giveWidest({ connectFile, attacker }: Neighbourhood): Promise<void> {
  const names = Array.from({ length: 2_000 }, (_, n) => `a column with a longer name ${n}`).join(',')
  const row = (r: number) => Array.from({ length: 2_000 }, (_, n) => (n % 3 ? `text ${n}` : n * r)).join(',')
  const rows = Array.from({ length: 50 }, (_, r) => row(r)).join('\n')
  await connectFile(attacker.account, 'wide', `${names}\n${rows}\n`)
}

async function makeDearForm(street: Neighbourhood): Promise<void> {
  if (dearForms.has(street.attacker)) return
  const columns = Array.from({ length: 41 }, (_, n) => `a${n}`)
  await street.connectFile(street.attacker.account, 'dear-form', `${columns.join(',')}\n`)
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
  dearForms.set(street.attacker, `/f/${id}`)
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

function holdConnections(
  says: (attacker: Attacker) => string,
  { isReading = true, addresses = [attackerAddress] } = {},
): Attack['run'] {
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
      const localAddress = ofAll(addresses, open.size)
      const socket = connect({ host: '127.0.0.1', port: server.port, localAddress })
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
