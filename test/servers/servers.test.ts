import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { findChromium, launchChromium } from './chromium.ts'
import { installMissing } from './install-missing.ts'
import { findPostgres, startPostgres } from './postgres.ts'
import { findRedis, startRedis } from './redis.ts'

const withoutPostgres = findPostgres() ? false : 'PostgreSQL is not on this machine'
const withoutRedis = findRedis() ? false : 'Redis is not on this machine'
const withoutChromium = findChromium() ? false : 'Chromium is not on this machine'

test('two PostgreSQL servers run side by side and are gone after stop', {
  skip: withoutPostgres,
}, async (t) => {
  const servers = await Promise.all([startPostgres(), startPostgres({ fsync: false })])
  t.after(() => Promise.all(servers.map((server) => server.stop())))
  const [first, second] = servers
  assert.notEqual(first.port, second.port)
  assert.deepEqual(await query(first.url, 'select 1 + 1 as two, current_setting($1) as fsync', ['fsync']), [
    { two: 2, fsync: 'on' },
  ])
  assert.deepEqual(await query(second.url, 'select current_setting($1) as fsync', ['fsync']), [
    { fsync: 'off' },
  ])

  await first.stop()
  await assert.rejects(query(first.url, 'select 1'), /ECONNREFUSED/)
  assert.deepEqual(await query(second.url, 'select 1 as one'), [{ one: 1 }])
})

test('PostgreSQL keeps its data and its port over kill -9 and restart', {
  skip: withoutPostgres,
}, async (t) => {
  const server = await startPostgres()
  t.after(() => server.stop())
  await query(server.url, 'create table kept as select 7 as value')
  const idle = new Client(server.url)
  idle.on('error', () => undefined)
  await idle.connect()

  await server.kill()
  await assert.rejects(query(server.url, 'select 1'), /ECONNREFUSED/)
  await server.restart()
  assert.deepEqual(await query(server.url, 'select value from kept'), [{ value: 7 }])

  await server.restart()
  assert.deepEqual(await query(server.url, 'select value from kept'), [{ value: 7 }])
})

test('a PostgreSQL server that cannot start says why', { skip: withoutPostgres }, async () => {
  await assert.rejects(startPostgres({ settings: { no_such_setting: 'on' } }), /no_such_setting/)
})

test('two Redis servers run side by side and are gone after stop', { skip: withoutRedis }, async (t) => {
  const servers = await Promise.all([startRedis(), startRedis()])
  t.after(() => Promise.all(servers.map((server) => server.stop())))
  const [first, second] = servers
  assert.notEqual(first.port, second.port)
  assert.equal(await ask(first.port, 'PING'), '+PONG\r\n')

  await first.stop()
  await assert.rejects(ask(first.port, 'PING'), /ECONNREFUSED/)
  assert.equal(await ask(second.port, 'PING'), '+PONG\r\n')
})

test('Redis comes back empty on its port after kill -9 and restart', { skip: withoutRedis }, async (t) => {
  const server = await startRedis()
  t.after(() => server.stop())
  assert.equal(await ask(server.port, 'SET key value'), '+OK\r\n')
  await server.kill()
  await assert.rejects(ask(server.port, 'PING'), /ECONNREFUSED/)
  await server.restart()
  assert.equal(await ask(server.port, 'EXISTS key'), ':0\r\n')
})

test('Chromium opens a page of this machine', { skip: withoutChromium }, async (t) => {
  const web = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end('<!doctype html><title>A page of our own</title>')
  })
  web.listen(0, '127.0.0.1')
  await once(web, 'listening')
  t.after(() => web.close())
  const browser = await launchChromium()
  t.after(() => browser.close())
  const page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${(web.address() as AddressInfo).port}/`)
  assert.equal(await page.title(), 'A page of our own')
})

test('what has a stand-in is not called missing', async () => {
  const said: string[] = []
  const program = { debianPackage: 'none', findBest: () => undefined }
  await installMissing({
    programs: [
      { ...program, name: 'stood in for', find: () => '/bin/sh' },
      { ...program, name: 'missing', find: () => undefined },
    ],
    install: false,
    isBestWanted: true,
    say: (line) => said.push(line),
  })
  assert.deepEqual(said, ['not on this machine: missing; what needs them is skipped'])
})

const mortals = [
  { name: 'PostgreSQL', skip: withoutPostgres, file: './postgres.ts', start: 'startPostgres' },
  { name: 'Redis', skip: withoutRedis, file: './redis.ts', start: 'startRedis' },
]
for (const { name, skip, file, start } of mortals) {
  test(`${name} ends when the process that started it is killed`, { skip }, async (t) => {
    const script = `
      const { ${start} } = await import(${JSON.stringify(import.meta.resolve(file))})
      process.stdout.write(String((await ${start}()).port))
      setInterval(() => {}, 1000)`
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => parent.kill('SIGKILL'))
    const [told] = await once(parent.stdout, 'data')
    assert.equal(await listens(Number(told)), true)

    parent.kill('SIGKILL')
    await untilGone(Number(told))
  })
}

test('a server nobody stopped does not keep its process from ending', { skip: withoutRedis }, async () => {
  const script = `
    const { startRedis } = await import(${JSON.stringify(import.meta.resolve('./redis.ts'))})
    process.stdout.write(String((await startRedis()).port))`
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [[told], [code]] = await Promise.all([once(parent.stdout, 'data'), once(parent, 'exit')])
  assert.equal(code, 0)
  await untilGone(Number(told))
})

async function query(url: string, sql: string, values: unknown[] = []): Promise<unknown[]> {
  const client = new Client(url)
  try {
    await client.connect()
    return (await client.query(sql, values)).rows
  } finally {
    await client.end()
  }
}

function ask(port: number, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${command}\r\n`))
    socket.setEncoding('utf8')
    socket.once('data', (answer) => {
      socket.destroy()
      resolve(`${answer}`)
    })
    socket.once('error', reject)
  })
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

async function untilGone(port: number): Promise<void> {
  const deadline = performance.now() + 20_000
  while (await listens(port)) {
    assert.ok(performance.now() < deadline, `port ${port} is still open`)
    await sleep(20)
  }
}
