import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freshPlace, logged, type RunningServer } from './running.ts'
import { skipSmallDisk, smallDisk } from './small-disk.ts'

test('a full disk: nothing is written, log, /readyz and doctor say why, and all is well soon after there is room', {
  skip: skipSmallDisk,
}, async (t) => {
  const place = await freshPlace(t)
  const disk = smallDisk(t, 3)
  const env = { ROWPORT_DATA: join(disk.folder, 'data') }
  const server = await place.start({ env })
  const apiKey = /sk_live_\w+/.exec(server.screen)?.[0] ?? ''
  const file = join(place.folder, 'stock.csv')
  await writeFile(file, 'name\nfirst\n')
  const connected = await place.rowportHere(['sheet', 'connect', 'demo/stock', '--file', file], { env })
  assert.equal(connected.code, 0, connected.stderr)
  const post = async (name: string, isKeyed = true) => {
    const headers = { Authorization: `Bearer ${apiKey}`, ...(isKeyed ? { 'Idempotency-Key': name } : {}) }
    const body = JSON.stringify({ name })
    const answer = await fetch(`${server.url}/api/sheets/demo/stock`, { method: 'POST', headers, body })
    return { status: answer.status, text: await answer.text() }
  }
  assert.equal((await post('before')).status, 201)
  assert.deepEqual(await readiness(server), [200, { status: 'ready' }])

  await disk.fill()
  // What SQLite has set aside on disk is used up first.
  const refused = await until(async (n) => {
    const answer = await post(`full-${n}`)
    return answer.status === 201 ? null : answer
  })
  assert.equal(refused.status, 503)
  assert.match(refused.text, /"service_unavailable"/)
  const acknowledged = (await readFile(file, 'utf8')).split('\n')
  assert.equal((await post('again')).status, 503)
  const begunMs = performance.now()
  assert.equal((await post('without a key', false)).status, 503)
  assert.ok(performance.now() - begunMs < 10_000, 'nobody waits until the deadline of a write')
  assert.deepEqual((await readFile(file, 'utf8')).split('\n'), acknowledged, 'nothing was written')
  const malfunctions = logged(server.stderr(), 'malfunction')
  const told = malfunctions.filter((line) => JSON.stringify(line).includes('disk is full'))
  process.stdout.write(`full disk: ${told.length} of ${malfunctions.length} malfunctions name it\n`)
  assert.ok(malfunctions.length > 0)
  assert.equal(told.length, malfunctions.length)
  assert.deepEqual(await readiness(server), [
    503,
    { status: 'store cannot be written to', reason: 'the disk is full' },
  ])

  const doctor = await place.rowportHere(['doctor'], { env })
  assert.equal(doctor.code, 1)
  assert.match(
    doctor.stdout,
    /PROBLEM {2}Data folder .*\s+cannot be\s+written\s+to:\s+the\s+disk\s+is\s+full/,
  )

  const second = place.launch({ env })
  // Whether it can start at all depends on what SQLite has set aside.
  await second.says('stderr', 'the disk is full')
  second.child.kill('SIGKILL')

  await disk.empty()
  await until(async () => ((await readiness(server))[0] === 200 ? true : null))
  assert.equal((await post('again')).status, 201)
  assert.equal((await post('again')).status, 201)
  const rows = (await readFile(file, 'utf8')).split('\n')
  assert.equal(rows.filter((row) => row === 'again').length, 1)
})

async function readiness({ url }: RunningServer): Promise<[status: number, body: unknown]> {
  const answer = await fetch(`${url}/readyz`)
  return [answer.status, await answer.json()]
}

/** Until there is something to say. */
async function until<T>(look: (n: number) => Promise<T | null>): Promise<T> {
  for (let n = 0; ; n++) {
    const found = await look(n)
    if (found !== null) return found
    await sleep(20)
  }
}
