import { utimes, writeFile } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { generateApiKey } from '../../src/admission/api-key.ts'
import {
  buildWorkbook,
  repeatedPart,
  withPart,
  type ZipPart,
} from '../../src/providers/file/xlsx/workbook.fixture.ts'
import { ownPage } from '../connect/visitor.ts'
import { times } from '../soak.ts'
import { type Attack, count, keyed, many, ofAll, rowsOf } from './attack.ts'
import { type Neighbourhood, smallCsv } from './neighbourhood.ts'

const mebibyte = 1_024 * 1_024
const changedRows = 1_000
const webhooks = 20
const writtenSlugs = ['written-0', 'written-1', 'written-2', 'written-3']
/** One of this machine's, so that what it used up is nobody else's. */
const strangersAddress = '127.0.5.1'

/** Of those who bring what is made to hurt, have the server call whoever never answers, take back what they did, and say that they are others. */
export const hostileAttacks: readonly Attack[] = [
  {
    name: 'workbooks that are made to hurt',
    accounts: 2,
    async prepare(street) {
      const fine = buildWorkbook({ rows: '<row r="1"><c r="A1"><v>1</v></c></row>' })
      for (const { account } of street.attackers)
        for (const [slug, workbook] of Object.entries(hostileWorkbooks())) {
          const { file } = await street.connectFile(account, slug, fine)
          await writeFile(file, workbook)
        }
    },
    run: ({ attackers, folder }, isOver) => {
      const slugs = Object.keys(hostileWorkbooks())
      return many(12, isOver, async (n) => {
        const attacker = ofAll(attackers, n)
        const slug = ofAll(slugs, Math.floor(n / attackers.length))
        // Saved again, it has to be looked into again.
        await utimes(join(folder, `${attacker.account}-${slug}.xlsx`), new Date(), new Date())
        return keyed(attacker, `${rowsOf(attacker, slug)}?limit=1`, { 'Cache-Control': 'no-cache' })
      })
    },
  },
  {
    name: 'webhooks whose receivers never answer, beside bulk writes',
    accounts: 1,
    prepare: giveWritten,
    async run(street, isOver) {
      const { attacker } = street
      const receiver = await startHangingReceiver()
      const ids: string[] = []
      for (let n = 0; n < webhooks; n++) {
        const wish = {
          sheetSlug: ofAll(writtenSlugs, n),
          url: `${receiver.url}/${n}`,
          kinds: null,
          columns: null,
        }
        const { status, body } = await attacker.call('POST', '/webhooks', JSON.stringify(wish))
        if (status !== 201) throw new Error(`The webhook was not made: ${status} ${body}`)
        ids.push(/"id":"(\w+)"/.exec(body)?.[1] ?? '')
      }
      const tally = await many(4, isOver, (n) => writeAll(street, ofAll(writtenSlugs, n), n))
      count(tally, 'calls that hang', receiver.calls())
      for (const id of ids) await attacker.call('POST', `/webhooks/${id}/remove`)
      receiver.stop()
      return tally
    },
  },
  {
    name: 'writes that are taken back, done and only told',
    accounts: 1,
    prepare: giveWritten,
    run: (street, isOver) =>
      many(4, isOver, async (n) => {
        const { attacker } = street
        const slug = ofAll(writtenSlugs, n)
        const { status, operationId, ...written } = await writeAll(street, slug, n)
        if (status !== 200) return { status, ...written }
        const undo = `${rowsOf(attacker, slug)}/operations/${operationId}/undo`
        for (let told = 0; told < 3; told++) await keyed(attacker, `${undo}?dry_run=true`, {}, 'POST')
        return keyed(attacker, undo, {}, 'POST')
      }),
  },
  {
    name: 'strangers who say that each request comes from another address',
    run: ({ attacker }, isOver) => {
      const asJson = { ...ownPage, 'Content-Type': 'application/json' }
      const password = 'correct horse battery'
      return many(40, isOver, (n) => {
        const claimed = {
          'X-Forwarded-For':
            n % 2 ? `198.51.${(n >> 8) % 256}.${n % 256}` : `2001:db8:${(n % 65_536).toString(16)}::1`,
          'X-Real-IP': `203.0.113.${n % 256}`,
          Forwarded: `for=203.0.113.${n % 256}`,
        }
        const email = `stranger-${process.pid}-${n}@example.com`
        const from = { address: strangersAddress, method: 'POST' }
        const ways = [
          () => ({
            path: '/v1/sheets',
            address: strangersAddress,
            headers: { ...claimed, Authorization: `Bearer ${generateApiKey('live')}` },
          }),
          () => ({
            ...{ ...from, path: '/dashboard/api/sign-up', headers: { ...claimed, ...asJson } },
            body: JSON.stringify({ email, password, slug: `stranger-${process.pid}-${n}` }),
          }),
          () => ({
            ...{ ...from, path: '/dashboard/api/sign-in', headers: { ...claimed, ...asJson } },
            body: JSON.stringify({ email, password }),
          }),
          () => ({
            ...{ ...from, path: '/dashboard/api/forgot-password', headers: { ...claimed, ...asJson } },
            body: JSON.stringify({ email }),
          }),
        ]
        return attacker.ask(ofAll(ways, n)())
      })
    },
  },
]

async function giveWritten(street: Neighbourhood): Promise<void> {
  const { attacker } = street
  // Whoever has some minutes has as many requests.
  await street.operate(['account', 'plan', attacker.account, 'pro', '--per-minute', '100000'])
  for (const slug of writtenSlugs) {
    await street.connectFile(attacker.account, slug, smallCsv(changedRows))
    await keyed(attacker, `${rowsOf(attacker, slug)}?limit=1`)
  }
}

function writeAll({ attacker }: Neighbourhood, slug: string, stock: number) {
  return attacker.ask({
    path: `${rowsOf(attacker, slug)}?stock[gte]=0&max_rows=${changedRows}`,
    method: 'PATCH',
    headers: { Authorization: `Bearer ${attacker.apiKey}` },
    body: JSON.stringify({ stock }),
  })
}

/** Takes every connection and what is sent on it: half of them never hear anything, the others a little of an answer every second. */
async function startHangingReceiver(): Promise<{ url: string; calls(): number; stop(): void }> {
  const open = new Set<Socket>()
  let calls = 0
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => open.delete(socket))
    socket.resume()
    if (calls++ % 2) socket.write('HTTP/1.1 200 OK\r\n')
  })
  const drip = setInterval(() => {
    for (const socket of open) if (socket.bytesWritten > 0) socket.write('X-More: x\r\n')
  }, 1_000)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('It listens nowhere')
  return {
    url: `http://127.0.0.1:${address.port}`,
    calls: () => calls,
    stop() {
      clearInterval(drip)
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}

let made: Record<string, Uint8Array> | null = null

function hostileWorkbooks(): Record<string, Uint8Array> {
  made ??= makeHostileWorkbooks()
  return made
}

/** By the slugs of their sheets. */
function makeHostileWorkbooks(): Record<string, Uint8Array> {
  const sheet = 'xl/worksheets/sheet0.xml'
  const withData = (name: string, data: string) => buildWorkbook({ parts: withPart(name, { name, data }) })
  const cells = Array.from({ length: 10 }, (_, n) => `<c><v>${n * 7_919}.${n}</v></c>`).join('')
  const rows = `<row>${cells}</row>`.repeat(Math.floor(mebibyte / (cells.length + 11)))
  const manyTabs = Array.from(
    { length: 100_000 },
    (_, n) => `<sheet name="t${n}" sheetId="${n + 1}" r:id="rId1"/>`,
  )
  const strays = Array.from(
    { length: 60_000 },
    (_, n): ZipPart => ({ name: `xl/${n}`, data: '', stored: true }),
  )
  const depth = times(200_000, 2_000_000)
  const laughs = Array.from({ length: 20 }, (_, n) => `<!ENTITY a${n + 1} "&a${n};&a${n};">`).join('')
  return {
    bomb: buildWorkbook({
      parts: withPart(
        sheet,
        repeatedPart(sheet, '<worksheet>', `${' '.repeat(mebibyte - 7)}<!---->`, 40, '</worksheet>'),
      ),
    }),
    'endless-rows': buildWorkbook({
      parts: withPart(
        sheet,
        repeatedPart(sheet, '<worksheet><sheetData>', rows, times(8, 200), '</sheetData></worksheet>'),
      ),
    }),
    tabs: withData(
      'xl/workbook.xml',
      `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>${manyTabs.join('')}</sheets></workbook>`,
    ),
    depth: withData(sheet, `<worksheet><sheetData><row>${'<c>'.repeat(depth)}</row></sheetData></worksheet>`),
    laughs: withData(sheet, `<!DOCTYPE x [<!ENTITY a0 "ha">${laughs}]><worksheet>&a20;</worksheet>`),
    strays: buildWorkbook({ parts: (parts) => [...parts, ...strays] }),
    cut: buildWorkbook({ rows: '<row r="1"><c r="A1"><v>1</v></c></row>' }).subarray(0, 400),
  }
}
