import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LoggedCall } from '../../emulator/call-log.ts'
import { type LocalGoogle, startLocalGoogle } from './harness.ts'

interface Bench extends LocalGoogle {
  spreadsheetId: string
  /** Appends a row under a marker; what the client sees of it. */
  append(metadataId: number): Promise<number | 'lost'>
  read(): Promise<number | 'lost'>
  /** First column, from the side. */
  names(): Promise<unknown[]>
  calls(): Promise<LoggedCall[]>
}

async function startBench(t: TestContext): Promise<Bench> {
  const google = await startLocalGoogle(t)
  const { access_token } = await google.tokens('ada@example.com')
  const { spreadsheetId } = await google.control<{ spreadsheetId: string }>('POST', 'spreadsheets', {
    title: 'Shop',
    owner: 'ada@example.com',
    tabs: [{ title: 'Items', values: [['name']] }],
  })
  const path = `/v4/spreadsheets/${spreadsheetId}`
  const seen = (response: Promise<Response>): Promise<number | 'lost'> =>
    response.then(
      async (answer) => {
        await answer.text()
        return answer.status
      },
      () => 'lost',
    )
  return {
    ...google,
    spreadsheetId,
    append: (metadataId) =>
      seen(
        google.api(access_token, 'POST', `${path}:batchUpdate`, {
          requests: [
            {
              createDeveloperMetadata: {
                developerMetadata: {
                  metadataId,
                  metadataKey: 'op',
                  visibility: 'PROJECT',
                  location: { spreadsheet: true },
                },
              },
            },
            {
              appendCells: {
                sheetId: 0,
                fields: 'userEnteredValue',
                rows: [{ values: [{ userEnteredValue: { stringValue: `op ${metadataId}` } }] }],
              },
            },
          ],
        }),
      ),
    read: () => seen(google.api(access_token, 'GET', `${path}/values/Items`)),
    async names() {
      const { tabs } = await google.control<{ tabs: { values: unknown[][] }[] }>(
        'GET',
        `spreadsheets/${spreadsheetId}`,
      )
      return tabs[0]?.values.map((row) => row[0]) ?? []
    },
    calls: async () => (await google.control<{ calls: LoggedCall[] }>('GET', 'calls')).calls,
  }
}

test('rates on one match add up, lose answers and bring changes late, the same ones for the same seed', async (t) => {
  const runs: string[] = []
  for (const seed of [11, 11, 12]) {
    const bench = await startBench(t)
    const match = { method: 'spreadsheets.batchUpdate' }
    await bench.control('POST', 'faults', { match, kind: 'lost', rate: 0.2, seed })
    await bench.control('POST', 'faults', { match, kind: 'late', rate: 0.1, seed, delayMs: 1 })
    for (let id = 1; id <= 100; id += 1) {
      await bench.append(id)
      if (id % 10 === 0) assert.equal(await bench.read(), 200)
    }
    const fates = (await bench.calls())
      .filter(({ name }) => name === 'spreadsheets.batchUpdate')
      .map(({ fault }) => fault)
    const lost = fates.filter((fate) => fate === 'resetAfterApply').length
    const late = fates.filter((fate) => fate === 'applyLate').length
    assert.ok(lost >= 10 && lost <= 30, `${lost} lost`)
    assert.ok(late >= 3 && late <= 20, `${late} late`)
    runs.push(fates.join())
    while ((await bench.names()).length < 101) await sleep(5)
    assert.equal(new Set(await bench.names()).size, 101)
  }
  assert.equal(runs[0], runs[1])
  assert.notEqual(runs[0], runs[2])
})

test('a late change is refused when its marker is there by then', async (t) => {
  const bench = await startBench(t)
  const match = 'spreadsheets.batchUpdate'
  await bench.control('POST', 'faults', { match, kind: 'late', beforeCall: 2 })
  assert.equal(await bench.append(1), 'lost')
  assert.equal(await bench.append(1), 200)
  assert.equal(await bench.read(), 200)
  assert.deepEqual(await bench.names(), ['name', 'op 1'])
  const [first] = await bench.calls()
  assert.deepEqual([first?.status, first?.applied, first?.lateStatus], [null, false, 400])

  await bench.control('POST', 'faults', { match, kind: 'late', beforeCall: 1 })
  assert.equal(await bench.append(2), 'lost')
  assert.equal(await bench.append(2), 400)
  assert.deepEqual(await bench.names(), ['name', 'op 1', 'op 2'])
  const late = (await bench.calls()).findLast(({ fault }) => fault === 'applyLate')
  assert.deepEqual([late?.applied, late?.lateStatus], [true, 200])
})

test('a fault that strikes does not change which calls another one strikes', async (t) => {
  const fates = async (first: boolean): Promise<string[]> => {
    const bench = await startBench(t)
    if (first) await bench.control('POST', 'faults', { kind: '429', rate: 0.5, seed: 3 })
    await bench.control('POST', 'faults', { kind: '503', rate: 0.5, seed: 4 })
    const seen: string[] = []
    for (let call = 0; call < 30; call += 1) seen.push(String(await bench.read()))
    return seen
  }
  const [alone, together] = [await fates(false), await fates(true)]
  assert.ok(together.includes('429') && together.includes('503') && together.includes('200'))
  together.forEach((status, call) => {
    if (status !== '429') assert.equal(status, alone[call])
  })
})

test('a match may name a method, with or without its prefix; an unknown one is refused', async (t) => {
  const bench = await startBench(t)
  for (const match of [
    'values.get',
    'spreadsheets.values.get',
    { name: 'values.get' },
    { method: 'values.get' },
    { method: 'GET' },
  ]) {
    await bench.control('POST', 'faults', { match, kind: '503', rate: 1 })
    assert.equal(await bench.append(Math.ceil(Math.random() * 1e9)), 200)
    assert.equal(await bench.read(), 503)
    await bench.control('DELETE', 'faults')
  }
  for (const [wrong, message] of [
    [{ match: { method: 'values.gte' }, kind: '503' }, /unknown method; one of spreadsheets\.create/],
    [{ match: { name: 'GET' }, kind: '503', more: 1 }, /more/],
    [{ match: { kind: 'reads' }, kind: '503' }, /match\.kind/],
  ] as const) {
    const response = await fetch(`${bench.url}/_control/faults`, {
      method: 'POST',
      body: JSON.stringify(wrong),
    })
    assert.equal(response.status, 400)
    assert.match(((await response.json()) as { error: string }).error, message)
  }
  const over = { match: { kind: 'write' }, kind: '503', rate: 0.6 }
  await bench.control('POST', 'faults', over)
  const response = await fetch(`${bench.url}/_control/faults`, { method: 'POST', body: JSON.stringify(over) })
  assert.match(((await response.json()) as { error: string }).error, /rates of this match would be 1\.2/)
})

test('a person edits before a share of the calls, the same ones for the same seed, until told to stop', async (t) => {
  const runs: string[] = []
  for (let run = 0; run < 2; run += 1) {
    const bench = await startBench(t)
    const { spreadsheetId } = bench
    const edit = { spreadsheetId, tab: 'Items', op: 'insertRow', row: 2, values: ['person'] }
    await bench.control('POST', 'edit', { ...edit, rate: 0.3, seed: 7, match: { method: 'batchUpdate' } })
    const heights: number[] = []
    for (let id = 1; id <= 30; id += 1) {
      await bench.read()
      await bench.append(id)
      heights.push((await bench.names()).length)
    }
    runs.push(heights.join())
    const inserted = (heights.at(-1) ?? 0) - 31
    assert.ok(inserted >= 3 && inserted <= 18, `${inserted} of 30`)
    await bench.control('DELETE', 'edit')
    for (let id = 31; id <= 40; id += 1) await bench.append(id)
    assert.equal((await bench.names()).length, 41 + inserted)
    const both = JSON.stringify({ ...edit, rate: 0.5, beforeCall: 1 })
    const refused = await fetch(`${bench.url}/_control/edit`, { method: 'POST', body: both })
    assert.equal(refused.status, 400)
  }
  assert.equal(runs[0], runs[1])
})

test('calls are listed since a call or a time', async (t) => {
  const bench = await startBench(t)
  await bench.read()
  bench.clock.advanceMs(1000)
  const from = new Date(bench.clock.nowMs()).toISOString()
  await bench.append(1)
  bench.clock.advanceMs(1000)
  await bench.read()
  const numbers = async (since: string) =>
    (
      await bench.control<{ calls: LoggedCall[] }>('GET', `calls?since=${encodeURIComponent(since)}`)
    ).calls.map((call) => call.number)
  assert.deepEqual(await numbers('2'), [3])
  assert.deepEqual(await numbers('0'), [1, 2, 3])
  assert.deepEqual(await numbers(from), [2, 3])
  assert.equal((await fetch(`${bench.url}/_control/calls?since=yesterday`)).status, 400)
  const [, written] = await bench.calls()
  assert.deepEqual(
    [written?.user, written?.kind, written?.name, written?.status, written?.applied],
    ['ada@example.com', 'write', 'spreadsheets.batchUpdate', 200, true],
  )
})

test('latency may differ for reads and writes', async (t) => {
  const bench = await startBench(t)
  const tookMs = async (call: () => Promise<unknown>): Promise<number> => {
    const beganMs = performance.now()
    await call()
    return performance.now() - beganMs
  }
  await bench.control('POST', 'settings', { latencyMs: { write: 250 } })
  assert.ok((await tookMs(() => bench.append(1))) >= 245)
  await bench.control('POST', 'settings', { latencyMs: { read: { minMs: 750, maxMs: 760 }, write: 0 } })
  // Begun after the read, done before it: however slow the machine is, it is so for both.
  const answered: string[] = []
  const reading = tookMs(() => bench.read()).finally(() => answered.push('read'))
  await bench.append(2)
  answered.push('write')
  assert.ok((await reading) >= 745)
  assert.deepEqual(answered, ['write', 'read'])
})
