import { setTimeout as sleep } from 'node:timers/promises'
import { createLoadClient, type LoadClient } from '../../test/load-clients.ts'
import { connectFile, createAccount, openGround } from './ground.ts'
import { idleSecond } from './idle-second.ts'
import { type Axis, percentiles, powersOfTen } from './point.ts'
import { csvOf } from './tables.ts'

const most = 10_000
const requestsPerSecond = 500
const openedAtOnce = 100
const shares = { connections: most + 1_000, connections_per_address: most + 1_000 }

export const connectionsAxis: Axis = {
  name: 'connections',
  unit: 'open connections',
  about: `kept alive and mostly idle, ${requestsPerSecond} requests a second over all of them in turn; ${JSON.stringify(shares)} in ROWPORT_SHARES, as all come from one address here; ulimit -n 20000`,
  drawn: ['first page'],
  async *measure(store, after, wish) {
    const { seconds } = wish
    const ground = await openGround(store, after, { ROWPORT_SHARES: JSON.stringify(shares) })
    const { apiKey, path } = await ground.prepare(async (workshop) => ({
      apiKey: await createAccount(workshop),
      path: await connectFile(workshop, ground.folder, 'list', csvOf(100)),
    }))
    for (const connections of powersOfTen(1, most, wish)) {
      const { url } = await ground.start()
      const asked = { port: Number(new URL(url).port), path: `${path}?limit=50`, apiKey }
      const clients = Array.from({ length: connections }, createLoadClient)
      try {
        for (let at = 0; at < connections; at += openedAtOnce)
          await Promise.all(clients.slice(at, at + openedAtOnce).map((client) => askOnce(client, asked)))
        await askSteadily(clients, asked, 1)
        const end = ground.begin()
        const latenciesMs = await askSteadily(clients, asked, seconds + 1)
        yield {
          at: connections,
          request: 'first page',
          ...end(latenciesMs.length),
          ...percentiles(latenciesMs),
        }
        if (connections === 1 || connections === most)
          yield { at: connections, request: 'a second without requests', ...(await idleSecond(ground)) }
      } finally {
        for (const client of clients) client.close()
      }
    }
  },
}

type Asked = Parameters<LoadClient['ask']>[0]

async function askOnce(client: LoadClient, asked: Asked): Promise<number> {
  const { status, endedMs } = await client.ask(asked)
  if (status !== 200) throw new Error(`Rowport answered ${status}`)
  return endedMs
}

/** Each request is sent when it is due, or when the one before it on its connection is answered; waiting counts from when it was due. */
async function askSteadily(clients: readonly LoadClient[], asked: Asked, seconds: number): Promise<number[]> {
  const total = requestsPerSecond * seconds
  const latenciesMs: number[] = []
  const begunMs = performance.now()
  const lastOf = new Map<LoadClient, Promise<void>>()
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, ((performance.now() - begunMs) / 1_000) * requestsPerSecond)
    for (; sent < due; sent++) {
      const client = clients[sent % clients.length] as LoadClient
      const dueMs = begunMs + (sent / requestsPerSecond) * 1_000
      const answered = (lastOf.get(client) ?? Promise.resolve())
        .then(() => askOnce(client, asked))
        .then((endedMs) => void latenciesMs.push(endedMs - dueMs))
      lastOf.set(client, answered)
    }
    await sleep(1)
  }
  await Promise.all(lastOf.values())
  return latenciesMs
}
