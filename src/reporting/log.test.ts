import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateApiKey } from '../admission/api-key.ts'
import type { LogLevel } from '../config.ts'
import { randomBase62 } from '../secrets/random-base62.ts'
import { createLog } from './log.ts'
import { createMetrics } from './metrics.ts'
import type { Observation, Observe } from './observe.ts'

/** Made when the test runs: a literal of this shape would set off secret scanners. */
const secrets: Record<string, string> = {
  'live key': generateApiKey('live'),
  'test key': generateApiKey('test'),
  "Google's access token": `ya29.a0${randomBase62(20)}-${randomBase62(20)}_${randomBase62(20)}`,
  "Google's refresh token": `1//0${randomBase62(20)}-${randomBase62(20)}_${randomBase62(20)}`,
  'encoded refresh token': `1%2F%2F0${randomBase62(30)}`,
  "Google's client secret": `GOCSPX-${randomBase62(28)}`,
  'webhook secret': `whsec_${randomBase62(20)}+/${randomBase62(10)}=`,
}

test('no secret reaches the log, wherever in an error it hides', () => {
  for (const [what, secret] of Object.entries(secrets)) {
    const places: Record<string, unknown> = {
      message: new Error(`refused: ${secret}`),
      'start of a line': new Error(`refused:\n${secret}\nby Google`),
      'after a tab and a quote': new Error(`a\t${secret}\\"${secret}"`),
      URL: new Error(`GET https://example.com/?a=%20${secret}&b=1 failed`),
      cause: new Error('refused', { cause: new Error(secret) }),
      'cause of a cause': new Error('a', { cause: new Error('b', { cause: `token ${secret}` }) }),
      stack: withStack(`Error: x\n    at call (${secret}:1:1)`),
      'one of several': new AggregateError([new Error(secret)], `all failed: ${secret}`),
      'property of the error': Object.assign(new Error('refused'), { config: { headers: { auth: secret } } }),
      'code of the error': Object.assign(new Error('refused'), { code: secret }),
      'no error at all': secret,
      'thrown object': { token: secret },
    }
    for (const [where, error] of Object.entries(places)) {
      const { log, text } = logInto('debug')
      log({ event: 'malfunction', reference: 'r', operation: 'none', error })
      log({ event: 'decoder_lost', error })
      const failed = { sheetId: 's', provider: 'file', action: 'read' } as const
      log({ event: 'provider_failed', ...failed, reason: 'gone', cause: error })
      log({
        event: 'provider_failed',
        ...failed,
        reason: String(error instanceof Error ? error.message : error),
        cause: '',
      })
      // Beyond the prefix that says what it is, not even a part of it.
      assert.ok(!text().includes(secret.slice(-12)), `${what}: ${where}: ${text()}`)
      assert.equal(linesOf(text()).length, 4)
    }
  }
})

test('a property that somebody hung on an error is not logged, whatever its shape', () => {
  const { log, text } = logInto('info')
  const password = randomBase62(12)
  const error = Object.assign(new Error('refused'), {
    connection: `postgres://u:${password}@h`,
    request: { password },
  })
  log({ event: 'malfunction', reference: 'r', operation: 'none', error })
  assert.ok(!text().includes(password))
})

test('what an owner called an upload is in no line, wherever its path stands', () => {
  const { log, text } = logInto('info')
  for (const name of ['Löhne 2026 (geheim).xlsx', '給料.csv', '.AbCdEfGhIjKl.part.csv']) {
    const path = `/srv/data/files/acc_0123456789abcdefghijkl/${name}`
    const error = Object.assign(new Error(`ENAMETOOLONG: name too long, open '${path}'`), { path })
    log({ event: 'malfunction', reference: 'r', operation: 'none', error })
    log({
      event: 'provider_failed',
      sheetId: 's',
      provider: 'file',
      action: 'read',
      reason: 'x',
      cause: error,
    })
  }
  assert.doesNotMatch(text(), /Löhne|geheim|給料|AbCdEf/)
  const [line] = linesOf(text())
  assert.equal(
    (line?.error as { message: string } | undefined)?.message,
    "ENAMETOOLONG: name too long, open '/srv/data/files/acc_0123456789abcdefghijkl/[file]'",
  )
})

test('an error keeps what helps to find it: type, message, code, stack and causes', () => {
  const { log, text } = logInto('info')
  const cause = new RangeError('too deep')
  const error = Object.assign(new TypeError('not a row', { cause }), { code: 'EODD' })
  log({ event: 'malfunction', reference: 'ref1', operation: 'list_rows', error })
  const [line] = linesOf(text())
  assert.equal(line?.level, 'error')
  assert.equal(line?.reference, 'ref1')
  const logged = line?.error as Record<string, string>
  assert.equal(logged.type, 'TypeError')
  assert.equal(logged.message, 'not a row')
  assert.equal(logged.code, 'EODD')
  assert.match(
    logged.stack ?? '',
    /TypeError: not a row\n +at .*log\.test\.ts[\s\S]*caused by: RangeError: too deep\n +at /,
  )
})

test('odd errors do not break the log', () => {
  const ring = new Error('ring')
  ring.cause = ring
  const odd = [ring, null, Object.create(null), Symbol('s'), 1n, () => {}, { toString: null }]
  const { log, text } = logInto('info')
  for (const error of odd) log({ event: 'malfunction', reference: 'r', operation: 'none', error })
  assert.equal(linesOf(text()).length, odd.length)
})

test('what is logged at which level; requests and reads are counted instead', () => {
  const atLevel = (level: LogLevel) => {
    const { log, text } = logInto(level)
    for (const observation of oneOfEach) log(observation)
    return linesOf(text()).map((line) => `${line.level} ${line.event}`)
  }
  const errors = ['error malfunction', 'error decoder_lost', 'error store_lost', 'error mail_given_up']
  const warnings = [
    'warn provider_failed',
    'warn credential_expired',
    'warn data_open_to_others',
    'warn provider_rationed',
    'warn provider_rested',
    'warn write_raced',
    'warn rows_put_right',
    'warn file_saved_too_late',
    'warn rate_windows_moved',
    'warn redis_lost',
    'warn mail_failed',
    'warn webhook_turned_off',
    'warn changes_not_logged',
  ]
  const infos = [
    'info server_listening',
    'info server_draining',
    'info server_stopped',
    'info store_made',
    'info migration_applied',
    'info redis_connected',
    'info store_back',
    'info webhook_failed',
  ]
  const debugs = [
    'debug request_unreadable',
    'debug sheet_fetched',
    'debug rows_written',
    'debug provider_called',
    'debug webhook_delivered',
    'debug share_used_up',
    'debug mail_sent',
  ]
  assert.deepEqual(atLevel('silent'), [])
  assert.deepEqual(atLevel('error').sort(), errors.sort())
  assert.deepEqual(atLevel('warn').sort(), [...errors, ...warnings].sort())
  assert.deepEqual(atLevel('info').sort(), [...errors, ...warnings, ...infos].sort())
  assert.deepEqual(atLevel('debug').sort(), [...errors, ...warnings, ...infos, ...debugs].sort())
})

test('a line is JSON with level, time and event first', () => {
  const { log, text } = logInto('info')
  log({ event: 'server_draining', signal: 'SIGTERM' })
  assert.match(
    text(),
    /^\{"level":"info","time":"\d{4}-\d\d-\d\dT[\d:.]+Z","event":"server_draining","signal":"SIGTERM"\}\n$/,
  )
})

test('metrics count everything and hold no secret', async () => {
  const metrics = createMetrics()
  for (const observation of oneOfEach) metrics.observe(observation)
  for (const secret of Object.values(secrets)) {
    const error = new Error(secret)
    metrics.observe({ event: 'malfunction', reference: secret, operation: 'none', error })
    metrics.observe({
      event: 'provider_failed',
      sheetId: 's',
      provider: 'file',
      action: 'read',
      reason: secret,
      cause: error,
    })
    metrics.observe({ event: 'request_unreadable', code: 'bad_request', reason: secret })
  }
  const text = String(await metrics.expose())
  for (const [what, secret] of Object.entries(secrets)) assert.ok(!text.includes(secret.slice(-12)), what)
  assert.match(
    text,
    /^rowport_requests_total\{operation="list_rows",form="a",method="GET",status="200",code=""\} 1$/m,
  )
  for (const line of [
    'rowport_provider_writes_total{provider="file"} 1',
    'rowport_shares_used_up_total{share="decoding_waiting"} 1',
    'rowport_rows_written_total{change="added"} 3',
    'rowport_rows_written_total{change="updated"} 1',
    'rowport_rows_written_total{change="deleted"} 2',
  ]) {
    assert.ok(text.split('\n').includes(line), line)
  }
  assert.match(text, new RegExp(`^rowport_malfunctions_total ${1 + Object.keys(secrets).length}$`, 'm'))
  assert.doesNotMatch(text, /sh_metrics/, 'no ids as labels: they would grow without end')
})

const sheetId = 'sh_metrics'
const each: { [E in Observation['event']]: Extract<Observation, { event: E }> } = {
  server_listening: { event: 'server_listening', host: '127.0.0.1', port: 1, version: '0' },
  server_draining: { event: 'server_draining', signal: 'SIGTERM' },
  server_stopped: { event: 'server_stopped', openConnections: 0 },
  store_made: { event: 'store_made', newestMigration: 1 },
  migration_applied: { event: 'migration_applied', number: 1, name: 'first' },
  request_answered: {
    event: 'request_answered',
    operation: 'list_rows',
    form: 'a',
    method: 'GET',
    status: 200,
    code: null,
    rowsFrom: 'hit',
    durationMs: 1,
    accountId: 'acc_1',
    sheetId: 'sh_1',
    keyId: null,
  },
  request_unreadable: { event: 'request_unreadable', code: 'bad_request', reason: 'HPE_INVALID_METHOD' },
  malfunction: { event: 'malfunction', reference: 'r', operation: 'none', error: new Error('x') },
  sheet_fetched: {
    event: 'sheet_fetched',
    sheetId,
    provider: 'file',
    outcome: 'loaded',
    rows: 1,
    bytes: 1,
    durationMs: 1,
  },
  provider_failed: {
    event: 'provider_failed',
    sheetId,
    provider: 'file',
    action: 'read',
    reason: 'gone',
    cause: undefined,
  },
  rows_written: {
    event: 'rows_written',
    sheetId,
    provider: 'file',
    requests: 5,
    added: 3,
    updated: 1,
    deleted: 2,
    durationMs: 1,
  },
  snapshots_held: { event: 'snapshots_held', sheets: 1, bytes: 1, bodyBytes: 1 },
  snapshot_dropped: { event: 'snapshot_dropped', bytes: 1 },
  decoder_lost: { event: 'decoder_lost', error: new Error('x') },
  provider_called: {
    event: 'provider_called',
    provider: 'google',
    service: 'sheets',
    kind: 'read',
    status: 200,
    durationMs: 300,
  },
  provider_rationed: {
    event: 'provider_rationed',
    provider: 'google',
    kind: 'read',
    per: 'user',
    by: 'budget',
  },
  provider_rested: { event: 'provider_rested', provider: 'google', credentialId: 'cr_metrics', forMs: 5_000 },
  write_raced: { event: 'write_raced', provider: 'google', kind: 'update' },
  rows_put_right: { event: 'rows_put_right', sheetId: 'sh_1', rows: 2, isDone: true },
  file_saved_too_late: { event: 'file_saved_too_late', copy: 'saved-too-late-0a1b2c3d.csv' },
  mail_sent: { event: 'mail_sent', mailId: 'mail_metrics', attempts: 1 },
  mail_failed: { event: 'mail_failed', mailId: 'mail_metrics', attempts: 1, reason: 'EAUTH 535' },
  mail_given_up: { event: 'mail_given_up', mailId: 'mail_metrics', attempts: 9, reason: 'EENVELOPE 550' },
  webhook_delivered: { event: 'webhook_delivered', webhookId: 'wh_metrics', changes: 3, durationMs: 20 },
  webhook_failed: {
    event: 'webhook_failed',
    webhookId: 'wh_metrics',
    attempts: 2,
    status: 500,
    reason: 'it answered 500',
  },
  webhook_turned_off: {
    event: 'webhook_turned_off',
    webhookId: 'wh_metrics',
    reason: 'it returned 410 Gone',
  },
  changes_not_logged: { event: 'changes_not_logged', sheetId: 'sh_1', cause: new Error('x') },
  share_used_up: { event: 'share_used_up', share: 'decoding_waiting', accountId: 'acc_metrics' },
  turn_waited: { event: 'turn_waited', share: 'decoding_waiting', waitedMs: 40 },
  credential_expired: { event: 'credential_expired', credentialId: 'cr_metrics', reason: 'withdrawn' },
  redis_connected: { event: 'redis_connected' },
  redis_lost: { event: 'redis_lost' },
  data_open_to_others: { event: 'data_open_to_others', entries: 2 },
  store_lost: { event: 'store_lost', cause: new Error('away') },
  store_back: { event: 'store_back' },
  rate_windows_moved: { event: 'rate_windows_moved', to: 'store' },
}
const oneOfEach = Object.values(each)

function logInto(level: LogLevel): { log: Observe; text(): string } {
  const lines: string[] = []
  const log = createLog(level, { write: (line) => lines.push(line) })
  return { log, text: () => lines.join('') }
}

function linesOf(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

function withStack(stack: string): Error {
  const error = new Error('x')
  error.stack = stack
  return error
}
