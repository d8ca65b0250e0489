import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { freshPlace } from '../process/running.ts'
import { freePort } from '../servers/free-port.ts'
import { startPostgres } from '../servers/postgres.ts'
import { startRedis } from '../servers/redis.ts'
import { clusterSecret, skipCluster } from './cluster.ts'

test('a start that fails ends at once and says why, also with connections to both servers', {
  skip: skipCluster,
}, async (t) => {
  const [postgres, redis] = await Promise.all([startPostgres({ fsync: false }), startRedis()])
  t.after(() => Promise.all([postgres.stop(), redis.stop()]))
  const place = await freshPlace(t)
  const taken = createServer()
  const port = await freePort()
  await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve))
  t.after(() => taken.close())
  const env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, ROWPORT_SECRET: clusterSecret }
  const begunMs = performance.now()
  const failed = await place.launch({ env: { ...env, PORT: String(port) } }).ended
  assert.equal(failed.code, 1)
  assert.match(failed.stderr, new RegExp(`port ${port} is taken`))
  assert.ok(performance.now() - begunMs < 20_000, 'and does not wait for connections that stay open')

  const away = Object.assign(new URL(postgres.url), { port: String(await freePort()), password: 'hunter22' })
  const unreachable = await place.launch({ env: { ...env, DATABASE_URL: away.href } }).ended
  assert.equal(unreachable.code, 1)
  assert.match(
    unreachable.stderr,
    /could not start: PostgreSQL at 127\.0\.0\.1:\d+\/postgres cannot be used: .*ECONNREFUSED/,
  )
  assert.ok(!unreachable.stderr.includes('hunter22'))
})

test('Redis that is away does not keep a server from starting, and it is found when it comes', {
  skip: skipCluster,
}, async (t) => {
  const [postgres, redis] = await Promise.all([startPostgres({ fsync: false }), startRedis()])
  t.after(() => Promise.all([postgres.stop(), redis.stop()]))
  await redis.kill()
  const place = await freshPlace(t)
  const env = {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    ROWPORT_SECRET: clusterSecret,
    ROWPORT_UNREADY_SECONDS: '0',
  }
  const server = await place.start({ env })
  assert.equal((await fetch(`${server.url}/readyz`)).status, 200)
  await redis.restart()
  await server.says('stderr', 'redis_connected')
})
