import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { times } from '../soak.ts'
import { type Attack, count, keyed, many, ofAll, rowsOf, type Tally } from './attack.ts'
import { type Attacker, type Neighbourhood, smallCsv } from './neighbourhood.ts'

const rows = times(1_000, 10_000)

/** Of those who change many rows, follow the changes, and ask for all that was. */
export const changingAttacks: readonly Attack[] = [
  {
    name: 'five hundred streams of changes beside bulk writes, of two accounts',
    accounts: 2,
    prepare: (street) => giveChanged(street, smallCsv(times(200, 2_000))),
    async run({ attackers }, isOver) {
      const streams: Promise<unknown>[] = []
      const tally: Tally = new Map()
      for (let n = 0; n < 500; n++) {
        const attacker = ofAll(attackers, n)
        const headers = { Authorization: `Bearer ${attacker.apiKey}`, Accept: 'text/event-stream' }
        const path = `${rowsOf(attacker, 'changed')}/changes`
        // A stream does not end by itself.
        const stream = attacker.ask({ path, headers })
        streams.push(stream.then(({ begunWith }) => count(tally, `streams ${begunWith}`)))
      }
      // They ask as often in a minute as their plan allows, and the streams have had most of it.
      const written = await many(2, isOver, (n) => changeAll(ofAll(attackers, n), n))
      for (const attacker of attackers) attacker.leave()
      await Promise.all(streams)
      for (const [what, times] of written) count(tally, `writes ${what}`, times)
      return tally
    },
  },
  {
    name: 'as many streams as an account may have on one sheet beside bulk writes',
    accounts: 1,
    async prepare(street) {
      // Each stream is a request when it begins, and whoever has four minutes may have begun all of them.
      await street.operate(['account', 'plan', street.attacker.account, 'pro', '--per-minute', '100000'])
      await giveChanged(street, smallCsv(1_000))
    },
    async run({ server, attacker }, isOver) {
      const tally: Tally = new Map()
      const streams = Array.from({ length: times(100, 1_000) }, (_, n) =>
        openStream(server.port, attacker, `127.0.4.${(n % 4) + 1}`, tally),
      )
      const written = await many(2, isOver, (n) => changeAll(attacker, n))
      for (const stream of streams) stream.destroy()
      for (const [what, times] of written) count(tally, `writes ${what}`, times)
      return tally
    },
  },
  {
    name: 'changes of ten thousand rows, done and only told, of three accounts',
    accounts: 3,
    prepare: (street) => giveChanged(street, smallCsv(rows)),
    run: ({ attackers }, isOver) =>
      many(12, isOver, (n) =>
        changeAll(ofAll(attackers, n), n, n % 12 < 6 ? { more: '&dry_run=true' } : undefined),
      ),
  },
  {
    name: 'writes with keys by the thousand in the same moment, of eight accounts',
    accounts: 8,
    prepare: (street) => giveChanged(street, smallCsv(10)),
    async run({ attackers }, isOver) {
      // As many as may wait for one spreadsheet, and less than a minute's requests.
      const run = randomUUID()
      const volley = attackers.flatMap((attacker, nth) =>
        Array.from({ length: times(20, 190) }, (_, n) =>
          attacker.ask({
            path: rowsOf(attacker, 'changed'),
            method: 'POST',
            address: `127.0.7.${nth + 1}`,
            headers: {
              Authorization: `Bearer ${attacker.apiKey}`,
              'Idempotency-Key': `${run}-${n}`,
            },
            body: JSON.stringify({ name: `row ${n}` }),
          }),
        ),
      )
      const tally: Tally = new Map()
      for (const { status } of await Promise.all(volley)) count(tally, `${status}`)
      while (!isOver()) await sleep(100)
      return tally
    },
  },
  {
    name: 'long answers that are asked for again by their key',
    accounts: 2,
    async prepare(street) {
      await giveChanged(street, smallCsv(rows))
      for (const attacker of street.attackers) {
        const { status, body } = await changeAll(attacker, 1, { idempotencyKey: 'again' })
        if (status !== 200) throw new Error(`There is nothing to ask for again: ${status} ${body}`)
      }
    },
    run: ({ attackers }, isOver) =>
      many(16, isOver, (n) => changeAll(ofAll(attackers, n), 1, { idempotencyKey: 'again' })),
  },
  {
    name: 'exports and all that ever changed, of two accounts',
    accounts: 2,
    async prepare(street) {
      await giveChanged(street, smallCsv(rows))
      for (const attacker of street.attackers) {
        for (let n = 0; n < times(2, 8); n++) await changeAll(attacker, n)
      }
    },
    run: ({ attackers }, isOver) => {
      const ways: ((attacker: Attacker) => ReturnType<typeof keyed>)[] = [
        (attacker) => attacker.call('GET', '/export'),
        (attacker) => keyed(attacker, `${rowsOf(attacker, 'changed')}/changes?since=earliest&limit=1000`),
        (attacker) => attacker.call('GET', '/sheets/changed/history'),
        (attacker) =>
          keyed(attacker, `${rowsOf(attacker, 'changed')}/changes?since=earliest&limit=1000&row=7`),
        (attacker) => attacker.call('GET', '/audit'),
      ]
      return many(20, isOver, (n) => ofAll(ways, n)(ofAll(attackers, Math.floor(n / ways.length))))
    },
  },
]

/** From an address of its own, which may have so many connections. */
function openStream(port: number, attacker: Attacker, localAddress: string, tally: Tally): Socket {
  const socket = connect({ host: '127.0.0.1', port, localAddress })
  socket.write(
    `GET ${rowsOf(attacker, 'changed')}/changes HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n` +
      `Authorization: Bearer ${attacker.apiKey}\r\n\r\n`,
  )
  socket.once('data', (head) => count(tally, `streams ${head.toString('latin1', 9, 12)}`))
  socket.on('error', () => {})
  socket.resume()
  return socket
}

async function giveChanged(street: Neighbourhood, csv: string): Promise<void> {
  for (const attacker of street.attackers) {
    await street.connectFile(attacker.account, 'changed', csv)
    await keyed(attacker, `${rowsOf(attacker, 'changed')}?limit=1`)
  }
}

function changeAll(
  attacker: Attacker,
  stock: number,
  { more = '', idempotencyKey }: { more?: string; idempotencyKey?: string } = {},
) {
  return attacker.ask({
    path: `${rowsOf(attacker, 'changed')}?stock[gte]=0&max_rows=${rows}${more}`,
    method: 'PATCH',
    headers: {
      Authorization: `Bearer ${attacker.apiKey}`,
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    },
    body: JSON.stringify({ stock }),
  })
}
