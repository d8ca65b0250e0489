import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryRegisters } from '../../../../test/cluster/memory-registers.ts'
import { createMemoryCredentials, sealing } from '../../../../test/google/memory-credentials.ts'
import { createVirtualTime, type VirtualTime } from '../../../../test/google/virtual-time.ts'
import type { Observation } from '../../../reporting/observe.ts'
import { createOwnValues } from '../../../shared-state/registers/own-values.fixture.ts'
import { createRegisterValue } from '../../../shared-state/registers/register-value.ts'
import type { ShareValue } from '../../../shared-state/registers/shared-value.ts'
import { CredentialExpired, OutcomeUnknown, ProviderFailure } from '../../../sheets/provider-failure.ts'
import { createAccessTokens } from '../../remote/access-tokens.ts'
import { createBreaker } from '../../remote/breaker.ts'
import { callLimits } from '../../remote/remote-calls.ts'
import { createRetryCredit } from '../../remote/retry-credit.ts'
import type { SharedTokens } from '../../remote/shared-tokens.ts'
import { ExchangeLost, type ExchangeWish, type HttpAnswer } from '../../remote/transport.ts'
import { createGoogleBudget, googleRations } from './google-budget.ts'
import { createGoogleCalls, type GoogleCall } from './google-call.ts'
import { withPublicAccess } from './public-access.ts'

type Script = (wish: ExchangeWish, number: number) => HttpAnswer | ExchangeLost | Promise<HttpAnswer>

const json = { 'content-type': 'application/json; charset=UTF-8' }
const good: HttpAnswer = { status: 200, headers: json, body: own('{"good":true}') }
const html: HttpAnswer = { status: 200, headers: { 'content-type': 'text/html' }, body: own('<html>') }
const half: HttpAnswer = { status: 200, headers: json, body: own('{"good":') }
const reset = new ExchangeLost('no_answer', 'reset')
const refused = new ExchangeLost('not_sent', 'connection refused')

function own(text: string): Buffer<ArrayBuffer> {
  const body = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  body.write(text)
  return body
}

function failure(code: number, status = '', reason = ''): HttpAnswer {
  const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, metadata: {} }]
  return {
    status: code,
    headers: json,
    body: own(JSON.stringify({ error: { code, message: 'no', status, details } })),
  }
}

/** `among`: one instance of several, who count together and live in the same time. */
function start(
  script: Script,
  latencyMs = 0,
  shared?: SharedTokens,
  among?: { time: VirtualTime; share?: ShareValue },
) {
  const time = among?.time ?? createVirtualTime()
  const { clock, timers } = time
  const store = createMemoryCredentials()
  const seen: Observation[] = []
  const observe = (observation: Observation) => seen.push(observation)
  const sentAtMs: number[] = []
  const bearers: (string | undefined)[] = []
  let refreshes = 0
  const tokens = createAccessTokens({
    name: 'Google',
    store,
    sealing,
    clock,
    observe,
    source: { refresh: async () => ({ accessToken: `token-${++refreshes}`, expiresInSeconds: 3_600 }) },
    ...(shared && { shared }),
  })
  const random = () => 0.5
  const calls = createGoogleCalls({
    time: { hear() {} },
    transport: {
      async exchange(wish) {
        sentAtMs.push(clock.elapsedMs())
        bearers.push(wish.headers.Authorization)
        if (latencyMs > 0) {
          const { promise, resolve } = Promise.withResolvers<void>()
          timers.after(latencyMs, resolve)
          wish.signal.addEventListener('abort', () => resolve())
          await promise
          if (wish.signal.aborted) throw reset
        }
        const answer = await script(wish, sentAtMs.length)
        if (answer instanceof Error) throw answer
        return answer
      },
      close() {},
    },
    tokens: withPublicAccess(tokens, 'a-key'),
    budget: createGoogleBudget({
      share: among?.share ?? createOwnValues(clock),
      timers,
      observe,
      random,
      limits: googleRations,
    }),
    breaker: createBreaker({ name: 'Google', clock, random, onRest() {} }),
    retryCredit: createRetryCredit(clock),
    askerOf: (id) => (id === null ? { by: 'key' } : { by: 'owner', scope: 'drive.file' }),
    clock,
    timers,
    observe,
    random,
    limits: callLimits,
  })
  const credentialId = store.connect({ subject: 'ada', refreshToken: 'r' })
  const call: GoogleCall = { credentialId, method: 'GET', url: 'http://google/x', service: 'sheets' }
  /** Lets time pass until it is settled, and says how long that took. */
  const settled = async <T>(work: Promise<T>): Promise<{ value?: T; error?: unknown; tookMs: number }> => {
    const startMs = clock.elapsedMs()
    let outcome: { value?: T; error?: unknown; tookMs: number } | null = null
    work.then(
      (value) => {
        outcome = { value, tookMs: clock.elapsedMs() - startMs }
      },
      (error: unknown) => {
        outcome = { error, tookMs: clock.elapsedMs() - startMs }
      },
    )
    for (let at = 0; at < 2_000 && !outcome; at++) await time.pass(50)
    assert.ok(outcome, 'it never ended')
    return outcome
  }
  return { time, store, seen, calls, call, sentAtMs, bearers, settled, credentialId }
}

test('a read survives two mishaps of any passing kind', async () => {
  for (const mishap of [failure(500), failure(503), html, half, reset, refused]) {
    const { calls, call, sentAtMs, settled, seen } = start((_, number) => (number < 3 ? mishap : good))
    const { value, tookMs } = await settled(calls.callRead(call))
    assert.equal(String(value), '{"good":true}')
    assert.equal(sentAtMs.length, 3)
    assert.ok(tookMs >= 350 && tookMs <= 800, `waited between the tries: ${tookMs} ms`)
    assert.equal(seen.filter(({ event }) => event === 'provider_called').length, 3)
  }
})

test('after three tries a read gives up, with a failure that passes', async () => {
  const { calls, call, sentAtMs, settled } = start(() => failure(503))
  const { error } = await settled(calls.callRead(call))
  assert.ok(error instanceof ProviderFailure && error.facts.isPassing)
  assert.equal(sentAtMs.length, 3)
})

test('what will not pass is not tried again', async () => {
  for (const status of [400, 403, 404]) {
    const { calls, call, sentAtMs, settled, store, credentialId } = start(() => failure(status))
    const { error } = await settled(calls.callRead(call))
    assert.ok(error instanceof ProviderFailure && !error.facts.isPassing)
    assert.equal(sentAtMs.length, 1)
    assert.equal(store.all.get(credentialId)?.state, 'valid')
  }
})

test('one deadline holds for all tries of a read', async () => {
  const { calls, call, settled } = start(() => failure(503), 9_000)
  const { error, tookMs } = await settled(calls.callRead(call))
  assert.ok(error instanceof ProviderFailure && error.facts.isPassing)
  assert.ok(tookMs <= 15_100, `${tookMs} ms`)
})

test('retries are a tenth of the calls, and a few more', async () => {
  const { calls, call, sentAtMs, time } = start((_, number) => (number % 2 === 0 ? good : failure(503)))
  let firsts = 0
  for (let at = 0; at < 400; at++) {
    firsts++
    calls.callRead(call).catch(() => {})
    await time.pass(1_500)
  }
  const freePerMinute = 6
  const allowed = firsts * 0.1 + (1 + (400 * 1_500) / 60_000) * freePerMinute
  assert.ok(sentAtMs.length - firsts <= allowed, `${sentAtMs.length - firsts} retries, ${allowed} allowed`)
  assert.ok(sentAtMs.length > firsts, 'and there are some')
})

test('a storm is met with few calls, other owners notice nothing, and it is over when it is over', async () => {
  for (const storm of [failure(429, 'RESOURCE_EXHAUSTED'), failure(500), reset]) {
    let isOver = false
    let firstGoodAtMs: number | null = null
    const { calls, call, bearers, time, store } = start(({ headers }) => {
      if (headers.Authorization !== 'Bearer token-1') return good
      if (!isOver) return storm
      firstGoodAtMs ??= time.clock.elapsedMs()
      return good
    }, 20)
    const other = { ...call, credentialId: store.connect({ subject: 'grace', refreshToken: 'r' }) }
    const outcomes = { mine: 0, others: 0, othersLost: 0 }
    let slowestMs = 0
    for (let second = 0; second < 60; second++) {
      for (let at = 0; at < 5; at++) {
        const startMs = time.clock.elapsedMs()
        outcomes.mine++
        calls.callRead(call).catch(() => {
          slowestMs = Math.max(slowestMs, time.clock.elapsedMs() - startMs)
        })
      }
      await time.pass(1_000)
      if (second % 2 === 0) continue
      outcomes.others++
      calls.callRead(other).catch(() => outcomes.othersLost++)
    }
    const sent = bearers.filter((bearer) => bearer === 'Bearer token-1').length
    assert.ok(sent <= 60, `${sent} calls of ${outcomes.mine} went to Google in a minute`)
    assert.ok(slowestMs <= 15_250, `${slowestMs} ms`)
    assert.deepEqual(outcomes, { mine: 300, others: 30, othersLost: 0 })
    isOver = true
    const endMs = time.clock.elapsedMs()
    let wellAfterMs = Number.POSITIVE_INFINITY
    for (let at = 0; at < 10; at++) {
      calls.callRead(call).then(
        () => (wellAfterMs = Math.min(wellAfterMs, time.clock.elapsedMs() - endMs)),
        () => {},
      )
      await time.pass(500)
    }
    await time.pass(15_000)
    assert.ok(wellAfterMs <= 15_000, `${wellAfterMs} ms until a newcomer was answered`)
    assert.ok((firstGoodAtMs ?? Number.POSITIVE_INFINITY) - endMs <= 5_000, 'asked again within five seconds')
  }
})

test('a spreadsheet that fails again and again, read with the key of this server, keeps no other account from reading with it', async () => {
  const { calls, settled } = start(({ url }) => (url.endsWith('/broken') ? failure(500) : good))
  const refusedAtOnce: boolean[] = []
  for (let at = 0; at < 6; at++) {
    const { tookMs, error } = await settled(calls.callRead(byKey('acc_heavy', 'broken')))
    assert.ok(error instanceof ProviderFailure)
    refusedAtOnce.push(tookMs === 0)
  }
  assert.ok(refusedAtOnce.includes(true), 'whoever asks for it is told without asking Google')
  const { value, error } = await settled(calls.callRead(byKey('acc_light', 'fine')))
  assert.equal(String(value), '{"good":true}', String(error))
})

test('whoever has used up its retries, reading with the key of this server, leaves other accounts theirs', async () => {
  const tries = new Map<string, number>()
  const { calls, settled } = start(({ url }) => {
    const nth = (tries.get(url) ?? 0) + 1
    tries.set(url, nth)
    return nth <= 2 ? failure(503) : good
  })
  const outcomes: boolean[] = []
  for (let at = 0; at < 5; at++) {
    const { value } = await settled(calls.callRead(byKey('acc_heavy', `sheet-${at}`)))
    outcomes.push(value !== undefined)
  }
  assert.ok(outcomes.includes(true) && outcomes.includes(false), 'until they are used up')
  const { value, error } = await settled(calls.callRead(byKey('acc_light', 'sheet')))
  assert.equal(String(value), '{"good":true}', String(error))
})

test('whoever tries to write where nobody can goes before no other account that reads with the key of this server', async () => {
  const asked: string[] = []
  const { calls, settled } = start(({ url }) => {
    asked.push(url)
    return good
  })
  for (let at = 0; at < 50; at++)
    calls.callRead({ ...byKey('acc_heavy', `look-${at}`), isUrgent: true }).catch(() => {})
  const { value, tookMs } = await settled(calls.callRead(byKey('acc_light', 'sheet')))
  assert.equal(String(value), '{"good":true}')
  assert.ok(tookMs <= 3_000, `after ${asked.length} calls and ${tookMs} ms`)
})

test('whoever is refused because the quota of the API key is used up reads that it is the key’s, and not an owner’s', async () => {
  const { calls, call, time } = start(() => good)
  for (const [asked, words] of [
    [call, /quota for this owner is used up.* 60 reads a minute for all sheets of one owner\./],
    [
      byKey('acc', 'x'),
      /quota for this server's API key is used up.* 60 reads a minute for all sheets that are read with this server's API key/,
    ],
  ] as const) {
    const refused: unknown[] = []
    for (let at = 0; at < 150; at++) calls.callRead(asked).catch((error: unknown) => refused.push(error))
    await time.pass(20_000)
    const [first] = refused
    assert.ok(first instanceof ProviderFailure)
    assert.match(`${first.message}. ${first.facts.details}`, words)
  }
  const { calls: theirs, settled } = start(() => failure(429, 'RESOURCE_EXHAUSTED'))
  const { error } = await settled(theirs.callRead(byKey('acc', 'x')))
  assert.match(String(error), /quota for this server's API key is used up/, 'also where Google says so')
})

function byKey(accountId: string, sheet: string): GoogleCall {
  return { credentialId: null, accountId, method: 'GET', url: `http://google/${sheet}`, service: 'sheets' }
}

test('an access token that was ended early is replaced, and the call repeated', async () => {
  const { calls, call, bearers, settled } = start(({ headers }) =>
    headers.Authorization === 'Bearer token-1' ? failure(401, 'UNAUTHENTICATED') : good,
  )
  const { value } = await settled(calls.callRead(call))
  assert.equal(String(value), '{"good":true}')
  assert.deepEqual(bearers, ['Bearer token-1', 'Bearer token-2'])
})

test('two access tokens refused in a row, or a scope withdrawn, need the owner', async () => {
  for (const [answer, reason, sent] of [
    [failure(401, 'UNAUTHENTICATED'), 'Google refuses the access token', 2],
    [
      failure(403, 'PERMISSION_DENIED', 'ACCESS_TOKEN_SCOPE_INSUFFICIENT'),
      'the owner withdrew the access to spreadsheets',
      1,
    ],
  ] as const) {
    const { calls, call, settled, store, credentialId, sentAtMs } = start(() => answer)
    const { error } = await settled(calls.callRead(call))
    assert.ok(error instanceof CredentialExpired)
    assert.equal(store.all.get(credentialId)?.expiredReason, reason)
    assert.equal(sentAtMs.length, sent)
  }
})

test('a token that another instance left and Google has ended since says nothing of the credential', async () => {
  const left = ['left-1', 'left-2']
  const shared: SharedTokens = {
    async tokenOf(_credential, _former, refresh) {
      const accessToken = left.shift()
      return accessToken === undefined ? refresh() : { accessToken, expiresInSeconds: 3_600 }
    },
  }
  const script: Script = ({ headers }) =>
    headers.Authorization === 'Bearer token-1' ? good : failure(401, 'UNAUTHENTICATED')
  const { calls, call, settled, bearers, store, credentialId } = start(script, 0, shared)
  const { value } = await settled(calls.callRead(call))
  assert.equal(String(value), '{"good":true}')
  assert.deepEqual(bearers, ['Bearer left-1', 'Bearer left-2', 'Bearer token-1'])
  assert.equal(store.all.get(credentialId)?.state, 'valid')
})

test('a 401 that is not Google’s, and a scope that only Drive wants, expire nothing', async () => {
  const proxy: HttpAnswer = { status: 401, headers: { 'content-type': 'text/html' }, body: own('<html>') }
  const scope = failure(403, 'PERMISSION_DENIED', 'ACCESS_TOKEN_SCOPE_INSUFFICIENT')
  for (const [answer, service] of [
    [proxy, 'sheets'],
    [scope, 'drive'],
  ] as const) {
    const { calls, call, settled, store, credentialId } = start(() => answer)
    const { error } = await settled(calls.callRead({ ...call, service }))
    assert.ok(error instanceof ProviderFailure && !(error instanceof CredentialExpired))
    assert.equal(store.all.get(credentialId)?.state, 'valid')
  }
})

test('a write is sent once: a lost or spoilt answer leaves the outcome unknown', async () => {
  for (const answer of [failure(500), failure(503), html, half, reset, new ExchangeLost('too_large', 'x')]) {
    const { calls, call, sentAtMs, settled } = start(() => answer)
    const { error } = await settled(calls.callWrite({ ...call, method: 'POST', body: {} }))
    assert.ok(error instanceof OutcomeUnknown, String(error))
    assert.equal(sentAtMs.length, 1)
  }
})

test('a write that hangs is unknown when its deadline ends', async () => {
  const { calls, call, settled } = start(() => good, 60_000)
  const { error, tookMs } = await settled(calls.callWrite({ ...call, method: 'POST', body: {} }))
  assert.ok(error instanceof OutcomeUnknown)
  assert.ok(tookMs >= 25_000 && tookMs <= 25_100)
})

test('a write that was refused or never left was surely not done', async () => {
  for (const answer of [
    failure(400),
    failure(403),
    failure(404),
    failure(429, 'RESOURCE_EXHAUSTED'),
    refused,
  ]) {
    const { calls, call, sentAtMs, settled } = start(() => answer)
    const { error } = await settled(calls.callWrite({ ...call, method: 'POST', body: {} }))
    assert.ok(error instanceof ProviderFailure && !(error instanceof OutcomeUnknown), String(error))
    assert.equal(sentAtMs.length, 1)
  }
})

test('when Google says how long to wait, nobody asks before that', async () => {
  const refusal = failure(429, 'RESOURCE_EXHAUSTED')
  const patient = { ...refusal, headers: { ...refusal.headers, 'retry-after': '9' } }
  const { calls, call, sentAtMs, settled } = start((_, number) => (number === 1 ? patient : good))
  const { value } = await settled(calls.callRead(call))
  assert.equal(String(value), '{"good":true}')
  const [first = 0, second = 0] = sentAtMs
  assert.ok(second - first >= 9_000 && second - first < 10_000, `${second - first} ms`)
})

for (const count of [1, 2]) {
  test(`while Google refuses, it is asked once for each closure, with many who wait at ${count} of ours`, async (t) => {
    const time = createVirtualTime()
    const { clock, timers } = time
    const registers = createMemoryRegisters(clock)
    const share: ShareValue = (name, form) =>
      createRegisterValue({ name, form, registers, clock, after: timers.after })
    const arrivedAtMs: number[] = []
    const startMs = clock.elapsedMs()
    const script: Script = () => {
      arrivedAtMs.push(clock.elapsedMs() - startMs)
      return clock.elapsedMs() - startMs < 20_000 ? failure(429, 'RESOURCE_EXHAUSTED') : good
    }
    const among = count > 1 ? { time, share } : { time }
    const instances = Array.from({ length: count }, () => start(script, 100, undefined, among))
    let isOver = false
    t.after(() => {
      isOver = true
    })
    const client = async ({ calls, call }: (typeof instances)[number]): Promise<void> => {
      while (!isOver) {
        await calls.callRead(call).catch(() => {})
        await new Promise<void>((resolve) => timers.after(50, resolve))
      }
    }
    instances.slice(0, 1).map(client)
    await time.pass(500)
    for (let at = 0; at < 8; at++) instances.map(client)
    await time.pass(19_000)
    const pauses = arrivedAtMs.slice(1).map((atMs, at) => atMs - (arrivedAtMs[at] ?? 0))
    t.diagnostic(`Google was asked at ${arrivedAtMs.map(Math.round)} ms`)
    // Closed for 0.875, 1.75 and then 3.5 s: a trial each time, and none beside it.
    assert.ok(arrivedAtMs.length >= 5 && arrivedAtMs.length <= 8, `${arrivedAtMs.length} calls`)
    assert.ok(Math.min(...pauses) >= 875, `${pauses}`)
    await time.pass(10_000)
    assert.ok(arrivedAtMs.length >= 25, 'and when Google gives again, all go on')
  })
}

test('a write that is taken gives back what Google said', async () => {
  const bodies: (string | undefined)[] = []
  const { calls, call, settled } = start(({ body }) => {
    bodies.push(body)
    return good
  })
  const { value } = await settled(calls.callWrite({ ...call, method: 'POST', body: { requests: [] } }))
  assert.deepEqual(value, { good: true })
  assert.deepEqual(bodies, ['{"requests":[]}'])
})

test('each try of a read tells the bytes of its own answer', async () => {
  const { calls, call, settled } = start(({ onPiece }, number) => {
    onPiece?.(Buffer.from(`try ${number}`))
    return number === 1 ? half : good
  })
  let heard: string[] = []
  const onBody = () => {
    heard = []
    return (piece: Uint8Array) => void heard.push(Buffer.from(piece).toString())
  }
  await settled(calls.callRead({ ...call, onBody }))
  assert.deepEqual(heard, ['try 2'])
})
