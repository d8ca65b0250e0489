import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LoggedCall } from '../../emulator/call-log.ts'
import { createTellTaleWorld, type LocalGoogle, startLocalGoogle } from './harness.ts'

interface Bench extends LocalGoogle {
  applied: string[]
  read(): Promise<Response>
  write(): Promise<Response>
  fault(fault: Record<string, unknown>): Promise<unknown>
  calls(): Promise<LoggedCall[]>
}

const write = 'PUT /v4/spreadsheets/S/values/A1'

async function startBench(t: TestContext): Promise<Bench> {
  const { world, applied } = createTellTaleWorld()
  const google = await startLocalGoogle(t, { createWorld: () => world })
  const { access_token } = await google.tokens('ada@example.com')
  return {
    ...google,
    applied,
    read: () => google.api(access_token, 'GET', '/v4/spreadsheets/S/values/Sheet1%21A1'),
    write: () => google.api(access_token, 'PUT', '/v4/spreadsheets/S/values/A1', { values: [['x']] }),
    fault: (fault) => google.control('POST', 'faults', fault),
    calls: async () => (await google.control<{ calls: LoggedCall[] }>('GET', 'calls')).calls,
  }
}

async function errorOf(response: Response): Promise<{ code: number; status: string; message: string }> {
  return ((await response.json()) as { error: { code: number; status: string; message: string } }).error
}

async function until(happened: () => boolean): Promise<void> {
  while (!happened()) await sleep(5)
}

test('429, 500 and 503 come instead of the answer, as often as asked, and nothing is applied', async (t) => {
  const bench = await startBench(t)
  for (const [kind, status] of [
    ['429', 'RESOURCE_EXHAUSTED'],
    ['500', 'INTERNAL'],
    [503, 'UNAVAILABLE'],
  ] as const) {
    await bench.fault({ kind, times: 2 })
    for (let time = 0; time < 2; time += 1) {
      const response = await bench.write()
      assert.equal(response.status, Number(kind))
      assert.equal((await errorOf(response)).status, status)
      assert.equal(response.headers.has('retry-after'), false)
    }
    assert.deepEqual(bench.applied, [])
    assert.equal((await bench.write()).status, 200)
    bench.applied.length = 0
  }
})

test('a 503 may come after the change was made', async (t) => {
  const bench = await startBench(t)
  await bench.fault({ kind: '503AfterApply' })
  assert.equal((await bench.write()).status, 503)
  assert.deepEqual(bench.applied, [write])
})

test('a reset loses the call; a reset after applying loses the answer only', async (t) => {
  const bench = await startBench(t)
  await bench.fault({ kind: 'reset' })
  await assert.rejects(bench.write())
  assert.equal(bench.applied.length, 0)
  await bench.fault({ kind: 'resetAfterApply' })
  await assert.rejects(bench.write())
  assert.deepEqual(bench.applied, [write])
  const [first, second] = await bench.calls()
  assert.deepEqual([first?.status, first?.fault, first?.applied], [null, 'reset', false])
  assert.deepEqual([second?.status, second?.fault, second?.applied], [null, 'resetAfterApply', true])
})

test('a hanging call never answers, whether it was applied or not', async (t) => {
  const bench = await startBench(t)
  const { access_token } = await bench.tokens('ada@example.com')
  for (const [kind, applied] of [
    ['hang', 0],
    ['hangAfterApply', 1],
  ] as const) {
    await bench.fault({ kind })
    const patience = new AbortController()
    const hanging = fetch(`${bench.url}/v4/spreadsheets/S/values/A1`, {
      method: 'PUT',
      body: '{}',
      headers: { Authorization: `Bearer ${access_token}` },
      signal: patience.signal,
    })
    await until(() => bench.emulator.emulation.calls.all().at(-1)?.fault === kind)
    await sleep(20)
    patience.abort()
    await assert.rejects(hanging, { name: 'AbortError' })
    assert.equal(bench.applied.length, applied)
  }
})

test('a change may come late: after a time, or before the n-th next call', async (t) => {
  const bench = await startBench(t)
  await bench.fault({ kind: 'applyLate', delayMs: 150 })
  await assert.rejects(bench.write())
  assert.equal(bench.applied.length, 0)
  await until(() => bench.applied.length > 0)
  assert.deepEqual(bench.applied, [write])

  bench.applied.length = 0
  await bench.fault({ match: { kind: 'write' }, kind: 'applyLate', beforeCall: 2 })
  await assert.rejects(bench.write())
  await bench.read()
  assert.equal(bench.applied.includes(write), false)
  await bench.read()
  assert.equal(bench.applied.indexOf(write), 1)
  assert.equal((await bench.calls())[1]?.applied, true)
})

test('answers that are no answers: truncated, cut off, HTML, wrong types', async (t) => {
  const bench = await startBench(t)
  await bench.fault({ kind: 'truncated' })
  const truncated = await bench.read()
  assert.equal(truncated.status, 200)
  await assert.rejects(truncated.json(), SyntaxError)

  await bench.fault({ kind: 'cut' })
  await assert.rejects(async () => (await bench.read()).text(), TypeError)

  await bench.fault({ kind: 'html', status: 429 })
  const html = await bench.read()
  assert.equal(html.status, 429)
  assert.match(html.headers.get('content-type') ?? '', /^text\/html/)

  await bench.fault({ kind: 'wrongTypes' })
  const wrong = (await (await bench.read()).json()) as { values: unknown; range: unknown }
  assert.equal(Array.isArray(wrong.values), false)
  assert.equal(typeof wrong.range, 'number')
})

test('an answer may drip', async (t) => {
  const bench = await startBench(t)
  await bench.fault({ kind: 'drip', chunkBytes: 40, intervalMs: 10 })
  const beganMs = performance.now()
  const body = (await (await bench.read()).json()) as { values: unknown }
  assert.deepEqual(body.values, [['a', 'b']])
  assert.ok(performance.now() - beganMs > 25)
})

test('an answer may be huge, plain or packed, and the client may leave in the middle of it', async (t) => {
  const bench = await startBench(t)
  for (const gzip of [false, true]) {
    await bench.fault({ kind: 'huge', bytes: 3_000_000, gzip })
    const body = (await (await bench.read()).json()) as { values: unknown[] }
    assert.ok(body.values.length > 20_000)
  }
  await bench.fault({ kind: 'huge' })
  const reader = (await bench.read()).body?.getReader()
  await reader?.read()
  await reader?.cancel()
  assert.equal((await bench.read()).status, 200)
})

test('any answer can be put into Google’s mouth, and a disabled API', async (t) => {
  const bench = await startBench(t)
  await bench.fault({ kind: 'answer', status: 400, body: { error: { code: 400, message: 'protected' } } })
  assert.equal((await errorOf(await bench.write())).message, 'protected')
  await bench.control('POST', 'settings', { disabledServices: ['sheets'] })
  const disabled = await bench.read()
  assert.equal(disabled.status, 403)
  assert.match(
    (await errorOf(disabled)).message,
    /^Google Sheets API has not been used in project \d+ before/,
  )
})

test('a fault strikes only what it is meant for; the sign-in only when it is named', async (t) => {
  const bench = await startBench(t)
  await bench.fault({ match: { kind: 'write' }, kind: '503' })
  assert.equal((await bench.read()).status, 200)
  assert.equal((await bench.write()).status, 503)
  await bench.fault({ match: 'GET .*Sheet1!A1$', kind: '500' })
  assert.equal((await bench.write()).status, 200)
  assert.equal((await bench.read()).status, 500)

  const { refresh_token } = await bench.tokens('ada@example.com')
  const refresh = { client_id: 'shop', client_secret: 'x', grant_type: 'refresh_token', refresh_token }
  await bench.fault({ kind: '503' })
  assert.equal((await bench.exchange(refresh)).status, 200)
  await bench.fault({ match: '/token$', kind: '500' })
  assert.deepEqual(await bench.exchange(refresh), {
    status: 500,
    body: { error: 'internal_failure', error_description: 'Backend Error' },
  })
})

test('a rate with a seed strikes the same calls in every run', async (t) => {
  const runs: string[] = []
  for (let run = 0; run < 2; run += 1) {
    const bench = await startBench(t)
    await bench.fault({ kind: '503', rate: 0.3, seed: 7 })
    const fates: number[] = []
    for (let call = 0; call < 40; call += 1) fates.push((await bench.read()).status)
    runs.push(fates.join(' '))
    const struck = fates.filter((status) => status === 503).length
    assert.ok(struck > 4 && struck < 20, `${struck} of 40`)
    await bench.control('DELETE', 'faults')
    assert.equal((await bench.read()).status, 200)
  }
  assert.equal(runs[0], runs[1])
})

test('a human edits now, or before the n-th next call; what goes wrong then is in the log', async (t) => {
  const bench = await startBench(t)
  const edit = { spreadsheetId: 'S', tab: 'Sheet1', op: 'deleteRow', row: 2 }
  await bench.control('POST', 'edit', edit)
  await bench.control('POST', 'edit', { ...edit, beforeCall: 1, match: { kind: 'write' } })
  await bench.control('POST', 'edit', { ...edit, spreadsheetId: 'other', beforeCall: 1 })
  await bench.read()
  await bench.write()
  const read = 'GET /v4/spreadsheets/S/values/Sheet1%21A1'
  assert.deepEqual(bench.applied, ['deleteRow by a human', read, 'deleteRow by a human', write])
  assert.deepEqual((await bench.calls())[0]?.problems, ['no spreadsheet other'])
})

test('rations: 60 reads and 60 writes a minute for each user, and the minute slides', async (t) => {
  const bench = await startBench(t)
  await bench.control('POST', 'settings', { quotas: true })
  for (let call = 0; call < 60; call += 1) assert.equal((await bench.read()).status, 200)
  const refused = await bench.read()
  assert.equal(refused.status, 429)
  assert.deepEqual(await refused.json(), {
    error: {
      code: 429,
      message:
        "Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute per user' of service 'sheets.googleapis.com' for consumer 'project_number:314159265358'.",
      status: 'RESOURCE_EXHAUSTED',
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
          reason: 'RATE_LIMIT_EXCEEDED',
          domain: 'googleapis.com',
          metadata: {
            service: 'sheets.googleapis.com',
            quota_metric: 'sheets.googleapis.com/read_requests',
            quota_limit: 'ReadRequestsPerMinutePerUser',
            quota_limit_value: '60',
            quota_location: 'global',
            quota_unit: '1/min/{project}/{user}',
            consumer: 'projects/314159265358',
          },
        },
        {
          '@type': 'type.googleapis.com/google.rpc.Help',
          links: [
            {
              description: 'Request a higher quota limit.',
              url: 'https://cloud.google.com/docs/quotas/help/request_increase',
            },
          ],
        },
      ],
    },
  })
  assert.equal((await bench.write()).status, 200)
  const grace = await bench.tokens('grace@example.com')
  assert.equal((await bench.api(grace.access_token, 'GET', '/v4/spreadsheets/S')).status, 200)
  bench.clock.advanceMs(60_000)
  assert.equal((await bench.read()).status, 200)
})

test('rations: the project has its own, and all can be set or switched off', async (t) => {
  const bench = await startBench(t)
  await bench.control('POST', 'settings', { quotas: { perUser: 2, perProject: 3 } })
  const grace = await bench.tokens('grace@example.com')
  const byGrace = () => bench.api(grace.access_token, 'GET', '/v4/spreadsheets/S')
  assert.deepEqual(
    [(await bench.read()).status, (await bench.read()).status, (await bench.read()).status],
    [200, 200, 429],
  )
  assert.equal((await byGrace()).status, 200)
  assert.match((await errorOf(await byGrace())).message, /limit 'Read requests per minute' of service/)
  await bench.control('POST', 'settings', { quotas: false })
  assert.equal((await byGrace()).status, 200)
})

test('latency holds back the answer', async (t) => {
  const bench = await startBench(t)
  await bench.control('POST', 'settings', { latencyMs: 60 })
  const beganMs = performance.now()
  await bench.read()
  assert.ok(performance.now() - beganMs >= 55)
})

test('the log tells time, user, kind, method, path, status and fault of each call', async (t) => {
  const bench = await startBench(t)
  await bench.fault({ match: { kind: 'write' }, kind: '503' })
  await bench.read()
  await bench.write()
  const nowMs = bench.clock.nowMs()
  const [read, written] = await bench.calls()
  assert.deepEqual(read, {
    number: 1,
    time: new Date(nowMs).toISOString(),
    atMs: nowMs,
    method: 'GET',
    path: '/v4/spreadsheets/S/values/Sheet1%21A1',
    name: 'values.get',
    service: 'sheets',
    kind: 'read',
    user: 'ada@example.com',
    query: '',
    status: 200,
    fault: null,
    lateStatus: null,
    applied: true,
    problems: [],
  })
  assert.deepEqual([written?.kind, written?.status, written?.fault], ['write', 503, '503'])
})

test('reset forgets everything: tokens, faults, settings, calls', async (t) => {
  const google = await startLocalGoogle(t)
  const { access_token } = await google.tokens('ada@example.com')
  await google.control('POST', 'faults', { kind: '503', rate: 1 })
  await google.control('POST', 'settings', { latencyMs: 5000, quotas: { perUser: 0 } })
  await google.control('POST', 'reset')
  assert.equal((await google.api(access_token, 'GET', '/drive/v3/files')).status, 401)
  const fresh = await google.tokens('ada@example.com')
  assert.equal((await google.api(fresh.access_token, 'GET', '/drive/v3/files')).status, 200)
  assert.equal((await google.control<{ calls: unknown[] }>('GET', 'calls')).calls.length, 2)
})

test('a wrong control request is refused with what is wrong', async (t) => {
  const { url } = await startBench(t)
  const cases: [string, string, string | undefined, number, RegExp][] = [
    ['POST', 'faults', '{"kind":"explode"}', 400, /kind: unknown kind; one of 429, 500/],
    ['POST', 'faults', '{"kind":"503","match":{"path":"("}}', 400, /match/],
    ['POST', 'faults', '{"kind":"503","time":1}', 400, /time/],
    ['POST', 'faults', '{', 400, /not JSON/],
    ['POST', 'tokens', '{}', 400, /user: /],
    [
      'POST',
      'spreadsheets',
      '{"title":"T","owner":"a","tabs":[{"title":"x","values":[1]}]}',
      400,
      /tabs\.0\.values\.0/,
    ],
    ['POST', 'edit', '{"spreadsheetId":"S","tab":"x","op":"explode"}', 400, /op: /],
    ['POST', 'edit', '{"spreadsheetId":"no","tab":"x","op":"deleteRow","row":1}', 400, /no spreadsheet no/],
    ['POST', 'settings', '{"latencyMs":-1}', 400, /latencyMs/],
    ['GET', 'spreadsheets/unknown', undefined, 404, /no spreadsheet unknown/],
    ['GET', 'tokens', undefined, 405, /takes POST/],
    ['POST', 'nothing', undefined, 404, /no such control/],
  ]
  for (const [method, path, body, status, message] of cases) {
    const response = await fetch(`${url}/_control/${path}`, {
      method,
      ...(body === undefined ? {} : { body }),
    })
    assert.equal(response.status, status, path)
    assert.match(((await response.json()) as { error: string }).error, message)
  }
})
