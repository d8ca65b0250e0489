import { connect } from 'node:net'
import { generateApiKey } from '../../src/admission/api-key.ts'
import { times } from '../soak.ts'
import { type Attack, count, many, ofAll, rowsOf, type Tally } from './attack.ts'
import { bringTable, leavePreview } from './brought-table.ts'
import { largeCsv, type Neighbourhood } from './neighbourhood.ts'

const searched = 'searched'
const crowdAddresses = 50
const pipelined = 50

/** Of those who do not wait for what they asked for, and of strangers who come from everywhere. */
export const leavingAttacks: readonly Attack[] = [
  {
    name: 'searches that are left, sixty-four at a time, of three accounts',
    accounts: 3,
    async prepare(street) {
      const csv = largeCsv(times(4, 10))
      for (const attacker of street.attackers) {
        await street.connectFile(attacker.account, searched, csv, ['--cache-seconds', '3600'])
        await attacker.ask({
          path: `${rowsOf(attacker, searched)}?limit=1`,
          headers: { Authorization: `Bearer ${attacker.apiKey}` },
        })
      }
    },
    run: ({ attackers }, isOver) =>
      many(64 * attackers.length, isOver, (n) => {
        const attacker = ofAll(attackers, n)
        const query = `?q=${n % 100}&sort=-column%204,column%201&limit=1`
        // Some browsers and programs end their half alone, as one does that reads on; others are gone.
        const leaving = n % 2 ? { closesItsHalf: true, leavesAfterMs: 2_000 } : { leavesAfterMs: 30 }
        return attacker.ask({
          ...{ path: `${rowsOf(attacker, searched)}${query}`, ...leaving },
          headers: { Authorization: `Bearer ${attacker.apiKey}` },
        })
      }),
  },
  {
    name: 'previews that are left at once',
    accounts: 1,
    prepare: (street) => bringTable(street, 'left', largeCsv(times(2, street.google ? 8 : 49))),
    run: ({ attacker }, isOver) => many(8, isOver, (n) => leavePreview(attacker, 'left', 20 + (n % 10) * 40)),
  },
  {
    name: 'requests without waiting for answers, from fifty addresses',
    run: (street, isOver) => pipelineFrom(street, isOver),
  },
  {
    name: 'keys that nobody has at the door of agents, from fifty addresses',
    isQuick: true,
    run: ({ attacker }, isOver) => {
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
      const bodies = [
        JSON.stringify(message),
        JSON.stringify({ ...message, params: { cursor: 'x'.repeat(3_000) } }),
        JSON.stringify({ ...message, params: { cursor: 'x'.repeat(1_000_000) } }),
      ]
      return many(60, isOver, (n) =>
        attacker.ask({
          ...{ path: '/mcp', method: 'POST', address: addressNumber(n), body: ofAll(bodies, n) },
          headers: {
            'Content-Type': 'application/json',
            Accept: 'application/json, text/event-stream',
            Authorization: `Bearer ${generateApiKey('live')}`,
          },
        }),
      )
    },
  },
]

/** Every 127.x.y.z is an address of this machine. */
function addressNumber(n: number): string {
  return `127.0.3.${(n % crowdAddresses) + 1}`
}

/** Four connections of each address, each with as many requests at once as are taken. */
async function pipelineFrom({ server }: Neighbourhood, isOver: () => boolean): Promise<Tally> {
  const tally: Tally = new Map()
  const paths = ['/openapi.json', '/healthz', '/docs/api', '/v1/sheets', '/metrics', '/api/sheets/a/b']
  await Promise.all(
    Array.from({ length: crowdAddresses * 4 }, async (_, nth) => {
      while (!isOver()) await sendAll(nth)
    }),
  )
  return tally

  function sendAll(nth: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const socket = connect({ host: '127.0.0.1', port: server.port, localAddress: addressNumber(nth) })
    let end = ''
    socket.on('data', (chunk: Buffer) => {
      const text = end + chunk.toString('latin1')
      for (const [, status] of text.matchAll(/HTTP\/1\.1 (\d{3}) /g)) count(tally, String(status))
      // The beginning of a status line may be there already.
      end = /H(?:TTP\/1\.1 ?\d{0,3}|[TP/1.]*)$/.exec(text)?.[0] ?? ''
    })
    socket.once('error', () => count(tally, 'broken off'))
    socket.once('close', () => resolve())
    const requests = Array.from({ length: pipelined }, (_, n) => {
      const last = n === pipelined - 1 ? 'Connection: close\r\n' : ''
      return `GET ${ofAll(paths, nth + n)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${generateApiKey('live')}\r\n${last}\r\n`
    })
    socket.write(requests.join(''))
    return promise
  }
}
