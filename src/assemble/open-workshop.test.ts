import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../clock.ts'
import { type Config, parseConfig } from '../config.ts'
import { openWorkshop } from './open-workshop.ts'
import { type ServingInstance, startServer } from './start-server.ts'

test('what an operator changes has no use for Redis, and does not connect to it; a server does', async (t) => {
  const redis = await startSilentRedis(t)
  const config = configOf({ ROWPORT_DATA: await freshFolder(t), REDIS_URL: redis.url })
  const workshop = await openWorkshop(config, systemClock, () => {})
  let server: ServingInstance | null = null
  t.after(async () => {
    await server?.close(0)
    await workshop.close()
  })
  await workshop.accounts.create('acme', 'free')
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.equal(redis.connections(), 0)
  server = await startServer(config, workshop, systemClock)
  assert.equal(redis.connections(), 2, 'one for what is counted, one for rows')
})

test('a workshop that cannot be opened leaves no database open', async (t) => {
  const folder = await freshFolder(t)
  await writeFile(join(folder, 'secret'), 'cut off\n')
  await assert.rejects(
    openWorkshop(configOf({ ROWPORT_DATA: folder }), systemClock, () => {}),
    /no secret/,
  )
  // SQLite removes what it keeps beside the database when the last one closes it.
  assert.deepEqual((await readdir(folder)).sort(), ['rowport.db', 'secret'])
})

test('a server that cannot start leaves no connection to Redis open', async (t) => {
  const redis = await startSilentRedis(t)
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  t.after(() => taken.close())
  const { port } = taken.address() as AddressInfo
  const env = { ROWPORT_DATA: await freshFolder(t), REDIS_URL: redis.url, PORT: String(port) }
  const config = configOf(env)
  const workshop = await openWorkshop(config, systemClock, () => {})
  await assert.rejects(startServer(config, workshop, systemClock), /EADDRINUSE/)
  await workshop.close()
  await redis.allGone()
})

/** Listens, and never says a word: whoever wants Redis gives up after a moment and does without. */
async function startSilentRedis(t: TestContext) {
  let connections = 0
  const gone: Promise<unknown>[] = []
  const server = createServer((socket) => {
    connections++
    gone.push(new Promise((resolve) => socket.once('close', resolve)))
    socket.on('error', () => {}).resume()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return {
    url: `redis://127.0.0.1:${port}`,
    connections: () => connections,
    allGone: () => Promise.all(gone),
  }
}

async function freshFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-assemble-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

function configOf(env: Record<string, string>): Config {
  const config = parseConfig({ PORT: '0', ...env }, false)
  if ('problems' in config) throw new Error(config.problems.join('; '))
  return config
}
