import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import type { FileChoice } from '../src/dashboard/contract.ts'
import { defaultShares } from '../src/shares/shares.ts'
import { ownPage, signedIn, type Visitor } from './connect/visitor.ts'
import { bearer, done, type Rowport, startRowport } from './harness.ts'
import { findPostgres, startPostgres } from './servers/postgres.ts'
import { patienceMs, times } from './soak.ts'

/** What one account can fill of a disk that all share, and what another one notices of it. */

const mebibyte = 1024 * 1024
const hourMs = 60 * 60 * 1_000

interface Engine {
  name: string
  skip: string | false
  start(t: TestContext, shares: Partial<typeof defaultShares>): Promise<Started>
}

interface Started {
  rowport: Rowport
  /** What the store takes on the disk. */
  storeBytes(): Promise<number>
}

const engines: readonly Engine[] = [
  {
    name: 'SQLite',
    skip: false,
    async start(t, shares) {
      const rowport = await startRowport(t, { settings: { shares: { ...defaultShares, ...shares } } })
      const bytesOf = (name: string) => statSync(join(rowport.folder, name)).size
      return { rowport, storeBytes: async () => bytesOf('rowport.db') + bytesOf('rowport.db-wal') }
    },
  },
  {
    name: 'PostgreSQL',
    skip: findPostgres() ? false : 'PostgreSQL is not on this machine',
    async start(t, shares) {
      const server = await startPostgres({ fsync: false })
      const settings = {
        shares: { ...defaultShares, ...shares },
        store: { kind: 'postgres', url: server.url } as const,
      }
      const rowport = await startRowport(t, { settings })
      const client = new pg.Client({ connectionString: server.url })
      await client.connect()
      // After the server, which closes first.
      t.after(async () => {
        await client.end()
        await server.stop()
      })
      return {
        rowport,
        async storeBytes() {
          const { rows } = await client.query('select pg_database_size(current_database()) as bytes')
          return Number(rows[0]?.bytes)
        },
      }
    },
  },
]

for (const { name, skip, start } of engines) {
  test(`${name}: answers for keys take no more than their share, what was promised is kept, and nobody else notices`, {
    skip,
    timeout: patienceMs,
  }, async (t) => {
    const journalMb = times(6, defaultShares.journal_mb)
    const { rowport, storeBytes } = await start(t, { journal_mb: journalMb })
    const lanes = 2
    const put = await attacker(rowport, lanes)
    const victim = await createVictim(rowport)
    await victim.write()
    const idleMs = await victim.write()
    const beforeBytes = await storeBytes()

    // Each lane for itself, side by side, until all are refused; the old journal takes them all.
    const accepted: Put[] = []
    const refusedPuts: Put[] = []
    const most = Math.ceil((2 * journalMb) / 1.9 / lanes)
    const writesMs: number[] = []
    let isOver = false
    const watching = (async () => {
      while (!isOver) writesMs.push(await victim.write())
    })()
    watching.catch(() => {})
    await Promise.all(
      Array.from({ length: lanes }, async (_, lane) => {
        for (let n = 0; n < most; n++) {
          const answered = await put(lane, `lane-${lane}-${n}`)
          if (answered.status === 200) accepted.push(answered)
          else refusedPuts.push(answered)
        }
      }),
    )
    isOver = true
    await watching
    const grownBytes = (await storeBytes()) - beforeBytes
    const keptBytes = accepted.reduce((sum, { text }) => sum + text.length, 0)
    t.diagnostic(
      `${name}: of ${lanes * most} keyed PUTs of 1.9 MB ${accepted.length} were done; answers kept ${mb(keptBytes)} MB of ${journalMb}, store +${mb(grownBytes)} MB`,
    )
    t.diagnostic(
      `${name}: victim's keyed write ${idleMs.toFixed(0)} ms before; during the attack p50 ${percentile(writesMs, 50)}, p99 ${percentile(writesMs, 99)} ms of ${writesMs.length}`,
    )

    assert.ok(accepted.length > 0)
    assert.ok(keptBytes <= journalMb * mebibyte, `${mb(keptBytes)} MB are kept`)
    // Room for one more would have been given, but for what the lanes ask for in the same moment.
    assert.ok(
      keptBytes > journalMb * mebibyte - (lanes + 1) * 2 * mebibyte,
      `only ${mb(keptBytes)} MB are kept`,
    )
    // The log of changes and free pages come on top; PostgreSQL keeps what it replaced until it is vacuumed.
    assert.ok(
      grownBytes < 1.3 * journalMb * mebibyte + 24 * mebibyte,
      `the store grew by ${mb(grownBytes)} MB`,
    )
    assert.ok(refusedPuts.length > 0)
    for (const { status, text, retryAfter } of refusedPuts) {
      assert.equal(status, 429, text.slice(0, 200))
      assert.match(text, /"code":"too_many_at_once".*journal_mb/)
      assert.ok(retryAfter > 23 * 3_600 && retryAfter <= 25 * 3_600, `${retryAfter}`)
    }
    assert.ok(rowport.seen.some((seen) => seen.event === 'share_used_up' && seen.share === 'journal_mb'))

    // What was promised: each answer again, to the byte. What was refused was not written.
    for (const { lane, key, text } of accepted.slice(0, 3)) {
      const again = await put(lane, key)
      assert.deepEqual([again.status, again.isReplayed], [200, true])
      assert.equal(again.text, text)
    }
    const without = await put(0, null)
    assert.equal(without.status, 200, 'a write without a key keeps nothing')
    const [owner, own] = [await signedIn(rowport), await victim.owner()]
    for (const [visitor, isFull] of [
      [owner, true],
      [own, false],
    ] as const) {
      const share = (await sharesOf(visitor)).get('journal_mb')
      assert.equal(share?.limit, journalMb)
      assert.equal((share?.used ?? 0) > journalMb / 2, isFull, JSON.stringify(share))
    }
    if (name !== 'SQLite') return
    rowport.clock.advanceMs(25 * hourMs)
    assert.equal((await put(0, 'the-day-after')).status, 200)
    // By this or by the server itself, which does so from time to time.
    await rowport.workshop.store.forgetOldOperations(24 * hourMs)
    const database = new DatabaseSync(join(rowport.folder, 'rowport.db'), { readOnly: true })
    const left = database
      .prepare(`select idempotency_key from operation where length(answer) > 1000000`)
      .all()
    database.close()
    assert.deepEqual(
      left.map(({ idempotency_key }) => idempotency_key),
      ['the-day-after'],
    )
  })
}

test('files of one byte: as many as the share says, by what they take on the disk, and the next account uploads as before', {
  timeout: patienceMs,
}, async (t) => {
  const maxFiles = times(40, defaultShares.upload_files)
  const rowport = await startRowport(t, {
    settings: { shares: { ...defaultShares, upload_files: maxFiles } },
  })
  done(await rowport.workshop.accounts.create('victim', 'free'))
  const [owner, victim] = [await signedIn(rowport), await signedIn(rowport, 'victim')]
  const { id } = done(await rowport.workshop.accounts.find('acme'))
  const idleMs = await timed(() => upload(rowport, victim, 'idle.csv', 'a\n1\n'))

  let kept = 0
  let busy = 0
  const words = new Set<string>()
  const begunMs = performance.now()
  // Six at a time, of which four may come: none is counted twice, and none slips by.
  await Promise.all(
    Array.from({ length: 6 }, async (_, lane) => {
      for (let n = 0; n < Math.ceil(maxFiles / 3); n++) {
        const { status, json } = await upload(rowport, owner, `tiny-${lane}-${n}.csv`, 'a')
        if (status === 201) kept++
        else if (status === 429) busy++
        else words.add(`${status} ${json.error?.message}`)
      }
    }),
  )
  // Those that were told to come again do, until there is no room.
  for (let n = 0; kept < maxFiles && n < maxFiles; n++) {
    if ((await upload(rowport, owner, `late-${n}.csv`, 'a')).status === 201) kept++
  }
  const last = await upload(rowport, owner, 'last.csv', 'a')
  words.add(`${last.status} ${last.json.error?.message}`)
  const folder = join(rowport.folder, 'files', id)
  const names = readdirSync(folder)
  const diskBytes = names.reduce((sum, one) => sum + statSync(join(folder, one)).blocks * 512, 0)
  const listMs = await timed(() => owner.call('GET', '/files'))
  const attackedMs = await timed(() => upload(rowport, victim, 'attacked.csv', 'a\n1\n'))
  t.diagnostic(
    `one-byte files: ${kept} kept, ${busy} told to come again, in ${((performance.now() - begunMs) / 1_000).toFixed(1)} s; ${names.length} on disk, ${(diskBytes / 1024).toFixed(0)} KB in blocks, told as ${JSON.stringify(await sharesOf(owner).then((shares) => shares.get('upload_mb')))}`,
  )
  t.diagnostic(
    `listing them takes ${listMs.toFixed(0)} ms; victim's upload ${idleMs.toFixed(0)} ms before, ${attackedMs.toFixed(0)} ms after`,
  )
  assert.equal(kept, maxFiles)
  assert.equal(names.length, maxFiles)
  assert.match([...words].join(), new RegExp(`^400 You can have up to ${maxFiles} files. Delete one first`))
  assert.equal(words.size, 1, [...words].join())
  const shares = await sharesOf(owner)
  assert.deepEqual(shares.get('upload_files'), { used: maxFiles, limit: maxFiles })
  assert.ok((shares.get('upload_mb')?.used ?? 0) * mebibyte >= diskBytes, 'no less than the disk says')
  assert.ok(rowport.seen.some((seen) => seen.event === 'share_used_up' && seen.share === 'upload_files'))

  const gone = await owner.call('DELETE', `/files/${names[0]}`)
  assert.equal(gone.status, 200, gone.text)
  assert.equal((await upload(rowport, owner, 'again.csv', 'a')).status, 201, 'there is room again')
  assert.equal((await upload(rowport, owner, 'more.csv', 'a')).status, 400)
})

test('an uploaded file does not grow past the share by what clients write to it', async (t) => {
  const rowport = await startRowport(t, { settings: { shares: { ...defaultShares, upload_mb: 2 } } })
  const owner = await signedIn(rowport)
  assert.equal((await upload(rowport, owner, 'log.csv', 'text\nfirst\n')).status, 201)
  const source = { provider: 'file', path: 'log.csv', tab: null }
  const made = await owner.call('POST', '/sheets', { slug: 'log', access: 'private', source })
  assert.equal(made.status, 201, made.text)
  const key = await rowport.createKey()
  const rows = Array.from({ length: 12 }, () => ({ text: 'x'.repeat(49_000) }))
  const outcomes: string[] = []
  for (let n = 0; n < 6; n++) {
    const answer = await fetch(`${rowport.url}/api/sheets/acme/log`, {
      method: 'POST',
      headers: bearer(key),
      body: JSON.stringify(rows),
    })
    outcomes.push(`${answer.status} ${/upload_mb/.exec(await answer.text())?.[0] ?? ''}`.trim())
  }
  const { id } = done(await rowport.workshop.accounts.find('acme'))
  const { size } = statSync(join(rowport.folder, 'files', id, 'log.csv'))
  t.diagnostic(`six writes of 0.6 MB to a share of 2 MB: ${outcomes.join(', ')}; the file has ${mb(size)} MB`)
  assert.ok(size <= 2 * mebibyte)
  assert.deepEqual(outcomes, ['201', '201', '201', ...Array(3).fill('502 upload_mb')])
  const smaller = await fetch(`${rowport.url}/api/sheets/acme/log/3`, {
    method: 'DELETE',
    headers: bearer(key),
  })
  assert.equal(smaller.status, 200, 'what makes it shorter is done')
})

interface Put {
  lane: number
  key: string
  status: number
  text: string
  isReplayed: boolean
  retryAfter: number
}

/** Writes a row of 1.9 MB into a sheet of its lane. */
async function attacker(rowport: Rowport, lanes: number) {
  const columns = Array.from({ length: 39 }, (_, n) => `c${n}`)
  for (let lane = 0; lane < lanes; lane++) {
    await rowport.connectFile(
      `wide-${lane}`,
      `wide-${lane}.csv`,
      `${columns.join(',')}\n${',1'.repeat(38)}\n`,
    )
  }
  const key = await rowport.createKey()
  const bodies = new Map<string, string>()
  /** What does not compress, and the same again under the same key. */
  const bodyOf = (name: string): string => {
    const cells = columns.map((column) => [column, randomBytes(36_750).toString('base64')])
    const body = bodies.get(name) ?? JSON.stringify(Object.fromEntries(cells))
    bodies.set(name, body)
    return body
  }
  return async (lane: number, idempotencyKey: string | null): Promise<Put> => {
    const answer = await fetch(`${rowport.url}/api/sheets/acme/wide-${lane}/2`, {
      method: 'PUT',
      headers: {
        ...bearer(key),
        ...(idempotencyKey === null ? {} : { 'Idempotency-Key': idempotencyKey }),
      },
      body: bodyOf(idempotencyKey ?? 'none'),
    })
    return {
      lane,
      key: idempotencyKey ?? '',
      status: answer.status,
      text: await answer.text(),
      isReplayed: answer.headers.get('idempotent-replayed') === 'true',
      retryAfter: Number(answer.headers.get('retry-after')),
    }
  }
}

async function createVictim(rowport: Rowport) {
  done(await rowport.workshop.accounts.create('victim', 'enterprise'))
  await rowport.connectFile('small', 'small.csv', 'name\nfirst\n', { account: 'victim' })
  const key = await rowport.createKey({ account: 'victim' })
  let writes = 0
  return {
    owner: () => signedIn(rowport, 'victim'),
    async write(): Promise<number> {
      writes++
      return timed(async () => {
        const answer = await fetch(`${rowport.url}/api/sheets/victim/small/2`, {
          method: 'PUT',
          headers: { ...bearer(key), 'Idempotency-Key': `victim-${writes}` },
          body: JSON.stringify({ name: `write ${writes}` }),
        })
        assert.equal(answer.status, 200, await answer.text())
      })
    },
  }
}

async function upload(rowport: Rowport, owner: Visitor, name: string, bytes: string) {
  const answer = await fetch(`${rowport.url}/dashboard/api/files?name=${encodeURIComponent(name)}`, {
    method: 'POST',
    body: bytes,
    headers: { Cookie: owner.cookie, ...ownPage },
  })
  const json = (await answer.json()) as FileChoice & { error?: { message: string } }
  return { status: answer.status, json }
}

interface Share {
  share: string
  used: number
  limit: number
}

async function sharesOf(visitor: Visitor): Promise<Map<string, Omit<Share, 'share'>>> {
  const { json } = await visitor.call<Share[]>('GET', '/shares')
  return new Map((Array.isArray(json) ? json : []).map(({ share, ...rest }) => [share, rest]))
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begunMs = performance.now()
  await work()
  return performance.now() - begunMs
}

function percentile(all: readonly number[], percent: number): string {
  const sorted = all.toSorted((one, other) => one - other)
  return (sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0).toFixed(0)
}

function mb(bytes: number): string {
  return (bytes / mebibyte).toFixed(1)
}
