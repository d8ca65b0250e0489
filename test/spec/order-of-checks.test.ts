import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { defaultShares } from '../../src/shares/shares.ts'
import { type ConnectedSheet, done, type Rowport, startRowport } from '../harness.ts'
import { patienceMs } from '../soak.ts'

/*
 * docs/contract.md#order-of-checks as a truth table: the combinations of its conditions are sent through the real
 * server, and a model that shares nothing with the product says what has to come back.
 */

/** docs/contract.md#errors; `nested` where that form has a code or message of its own. */
const errors = {
  rate_limited: {
    status: 429,
    message: 'Rate limit exceeded. Please retry after X seconds.',
    nested: { code: 'rate_limited', message: 'Too many requests. Please retry after X seconds.' },
  },
  not_found: { status: 404, message: 'There is nothing at this URL.' },
  method_not_allowed: { status: 405, message: 'This method is not supported here.' },
  account_not_found: { status: 404, message: 'Account not found' },
  sheet_not_found: { status: 404, message: 'Sheet not found' },
  api_key_required: {
    status: 401,
    message: 'API key required.',
    nested: { code: 'unauthorized', message: 'API key is required' },
  },
  invalid_api_key: {
    status: 403,
    message: 'Invalid API key',
    nested: { code: 'forbidden', message: 'Invalid API key' },
  },
  sheet_paused: { status: 503, message: 'Sheet is paused' },
  write_api_not_enabled: {
    status: 403,
    message: 'Write API is not enabled for your plan. Please upgrade to Pro or higher.',
  },
  insufficient_scope: {
    status: 403,
    message: "This API key doesn't have permission. Required scope: read-write.",
  },
  usage_limit_exceeded: {
    status: 429,
    message: 'Monthly API request limit exceeded. Please upgrade your plan.',
  },
  invalid_row_number: {
    status: 400,
    message: 'Invalid row number. Must be a positive integer greater than the header row.',
  },
  invalid_body: {
    status: 400,
    message: 'Invalid request body. Expected a JSON object or array of objects.',
  },
  google_api_error: { status: 502, message: 'Failed to X sheet: X' },
  token_expired: {
    status: 503,
    message: 'Unable to access sheet. The owner needs to re-authenticate.',
  },
} satisfies Record<string, ErrorEntry>

interface ErrorEntry {
  status: number
  /** Each X stands for what the answer fills in. */
  message: string
  nested?: { code: string; message: string }
}

const refusalsPerMinute = 20
/** Of readers without a key, from one address; few enough that some meet it on their way through the table. */
const publicPerMinute = 4
const windowMs = 60_000
const monthStartMs = Date.UTC(2026, 10, 15)
const monthEndMs = Date.UTC(2026, 11, 15)
/** docs/contract.md#provider-failures, with the methods as the cases name them. */
const actions: Record<string, string> = { POST: 'write to', PUT: 'update to', DELETE: 'delete from' }
const goneSentence = 'the file is missing; it may have been deleted, renamed or moved'
const plenty = 1_000_000
const few = 3
const fileText = 'name,price\nOak,1\n'
const goodRow = { name: 'Lamp', price: 59.9 }
/** `Age` and the like are of reading and not looked at here. */
const judgedHeaders = new Set([
  'allow',
  'cache-control',
  'content-type',
  'location',
  'retry-after',
  'www-authenticate',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-quota-limit',
  'x-quota-remaining',
  'x-quota-reset',
])

/** A window of 60 s that opens with its first request. */
interface Window {
  count: number
  endsAtMs: number | null
}

/** What the model knows of an account. The counts move as the model says, never as the server does. */
interface Account {
  slug: string
  writeApi: boolean
  perMinute: number
  perMonth: number
  live: Window
  test: Window
  used: number
  /** By readers without a key. */
  publicUsed: number
  /** Requests sent so far; says which spelling is next. */
  turn: number
  keys: Record<'read' | 'read-write' | 'test', string>
  badKeys: readonly string[]
  sheets: readonly Sheet[]
}

interface Sheet {
  place: ConnectedSheet
  isPublic: boolean
  isPaused: boolean
  acceptsTest: boolean
  isGone: boolean
  /** Under the account's credential, which has expired. */
  needsReconnect: boolean
  /** Of readers without a key. */
  reads: Window
  rows: object[]
}

interface Caller {
  ip: string
  refusals: Window
  /** Without a key, of any sheet. */
  reads: Window
}

type KeyKind = 'none' | 'bad' | 'read' | 'read-write' | 'test'

/** One combination of conditions. */
interface Case {
  account: Account
  sheet: Sheet
  caller: Caller
  where: 'here' | 'no route' | 'no account' | 'no sheet'
  form: 'a' | 'b'
  key: KeyKind
  method: string
  row: 'none' | 'good' | 'bad'
  body: 'none' | 'good' | 'bad'
}

interface Answer {
  status: number
  headers: Record<string, string>
  body: unknown
}

const yesNo = [true, false]
const keyKinds: readonly KeyKind[] = ['none', 'bad', 'read', 'read-write', 'test']
/** Each method with what can be wrong with it. */
const asks: readonly Pick<Case, 'method' | 'row' | 'body'>[] = [
  { method: 'GET', row: 'none', body: 'none' },
  { method: 'GET', row: 'good', body: 'none' },
  { method: 'GET', row: 'bad', body: 'none' },
  { method: 'POST', row: 'none', body: 'good' },
  { method: 'POST', row: 'none', body: 'bad' },
  { method: 'POST', row: 'good', body: 'good' },
  { method: 'PUT', row: 'good', body: 'good' },
  { method: 'PUT', row: 'good', body: 'bad' },
  { method: 'PUT', row: 'bad', body: 'good' },
  { method: 'PUT', row: 'bad', body: 'bad' },
  { method: 'DELETE', row: 'good', body: 'none' },
  { method: 'DELETE', row: 'bad', body: 'none' },
]

/** The same condition is sent in one spelling after the other. */
const badRows = ['0', '1', '-2', 'abc', '2.5', '02', '1e1']
const noRow = ''
const badBodies: readonly [text: string, details: string][] = [
  ['{"name":', 'The body is not valid JSON.'],
  ['', 'The body is not valid JSON.'],
  ['[]', 'The array has no rows.'],
  ['{}', 'The body is an empty object.'],
  ['"Lamp"', 'The body is not an object.'],
  ['[{"name":"a"},7]', 'Row 2 of the array is not an object.'],
  ['{"name":{"first":"a"}}', '"name" holds a nested value; a cell is a single value.'],
]
/** PUT and PATCH take no array at all. */
const badRowBodies: typeof badBodies = [
  ...badBodies.filter(([text]) => !text.startsWith('[')),
  ...['[]', '[{"name":"a"}]', '[7]'].map(
    (text) => [text, 'You can only update one row at a time. Send a single object.'] as [string, string],
  ),
]

function badBodyOf({ account, method }: Case): readonly [text: string, details: string] {
  return pick(method === 'POST' ? badBodies : badRowBodies, account.turn)
}

/** As good as random and the same each time; neighbours get different ones. */
function pick<T>(choices: readonly T[], turn: number): T {
  const choice = choices[(Math.imul(turn, 0x9e3779b1) >>> 8) % choices.length]
  assert.ok(choice !== undefined)
  return choice
}

type Code = keyof typeof errors

/** What a refusal says beside its code. */
interface Told {
  rate?: Record<string, string>
  quota?: Record<string, string>
  waitSeconds?: number
  allow?: string
  challenge?: string
  details?: string
  fill?: readonly string[]
}

/**
 * docs/contract.md#order-of-checks, line by line: the first whose condition holds makes the answer, and counts what it
 * costs.
 */
function expectedAnswer(asked: Case, nowMs: number): Answer {
  const { account, sheet, caller, where, form, key, method, row, body } = asked
  const isRead = method === 'GET'
  const isGuarded = left(caller.refusals, refusalsPerMinute, nowMs) === 0
  const { windows, month } = allowanceOf(asked)
  const full = windows.find(({ window, limit }) => left(window, limit, nowMs) === 0)
  const lines: readonly [holds: boolean, answer: () => Answer][] = [
    // Whoever shows a key is judged by it; all others wait, whatever they ask for.
    [isGuarded && key === 'none', () => toStranger('rate_limited')],
    [where === 'no route', () => toStranger('not_found')],
    [
      method === 'POST' && row !== 'none',
      () => toStranger('method_not_allowed', { allow: 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS' }),
    ],
    [where === 'no account', () => toStranger('account_not_found')],
    [where === 'no sheet', () => toStranger('sheet_not_found')],
    [
      key === 'none' && !(isRead && sheet.isPublic),
      () => toStranger('api_key_required', { challenge: 'Bearer' }),
    ],
    [key === 'bad' || (key === 'test' && !sheet.acceptsTest), () => toStranger('invalid_api_key')],
    [sheet.isPaused, () => toKnown('sheet_paused')],
    [!isRead && !account.writeApi, () => toKnown('write_api_not_enabled')],
    [!isRead && key === 'read', () => toKnown('insufficient_scope')],
    [full !== undefined, () => toRefusedByWindow()],
    [
      account[month] >= account.perMonth,
      () => toCounted('usage_limit_exceeded', { waitSeconds: secondsUntil(monthEndMs, nowMs) }),
    ],
    [row === 'bad', () => toCounted('invalid_row_number')],
    [body === 'bad', () => toCounted('invalid_body', { details: badBodyOf(asked)[1] })],
    [sheet.needsReconnect, () => toCounted('token_expired')],
    [
      sheet.isGone,
      () => toCounted('google_api_error', { fill: [actions[method] ?? 'read from', goneSentence] }),
    ],
    [true, () => served(asked, nowMs)],
  ]
  const line = lines.find(([holds]) => holds)
  assert.ok(line)
  return line[1]()

  function refused(code: Code, told: Told): Answer {
    return refusal(form, code, told)
  }
  /** Before authentication: no limits are told, and the address pays, or has paid and waits. */
  function toStranger(code: Code, told: Told = {}): Answer {
    if (isGuarded) {
      return refused('rate_limited', {
        rate: rateHeaders(caller.refusals, refusalsPerMinute, nowMs),
        waitSeconds: secondsUntil(caller.refusals.endsAtMs, nowMs),
      })
    }
    count(caller.refusals, nowMs)
    return refused(code, told)
  }
  /** From authentication on: the window is told, and not touched. */
  function toKnown(code: Code, told: Told = {}): Answer {
    return refused(code, { ...told, rate: tightest(windows, nowMs) })
  }
  /** The windows before the full one have counted it. */
  function toRefusedByWindow(): Answer {
    assert.ok(full)
    for (const { window } of windows.slice(0, windows.indexOf(full))) count(window, nowMs)
    const { window, limit } = full
    const waitSeconds = secondsUntil(window.endsAtMs, nowMs)
    return refused('rate_limited', { waitSeconds, rate: rateHeaders(window, limit, nowMs) })
  }
  /** From the quota on: the windows have counted it; the month has not, since it is no success. */
  function toCounted(code: Code, told: Told = {}): Answer {
    for (const { window } of windows) count(window, nowMs)
    return toKnown(code, { ...told, quota: quotaHeaders(asked) })
  }
}

interface Allowance {
  /** In the order in which they are asked. */
  windows: readonly { window: Window; limit: number }[]
  month: 'used' | 'publicUsed'
}

/** Keys have the account's window and month. Readers without one have their address's, the sheet's, and a month of their own. */
function allowanceOf({ account, sheet, caller, key }: Case): Allowance {
  const limit = account.perMinute
  if (key === 'none') {
    const ofAddress = { window: caller.reads, limit: publicPerMinute }
    return { windows: [ofAddress, { window: sheet.reads, limit }], month: 'publicUsed' }
  }
  return { windows: [{ window: key === 'test' ? account.test : account.live, limit }], month: 'used' }
}

/** The one with the least left, the first of equals. */
function tightest(windows: Allowance['windows'], nowMs: number): Record<string, string> {
  const lefts = windows.map(({ window, limit }) => left(window, limit, nowMs))
  const least = windows[lefts.indexOf(Math.min(...lefts))]
  assert.ok(least)
  return rateHeaders(least.window, least.limit, nowMs)
}

function refusal(form: 'a' | 'b', code: Code, told: Told): Answer {
  const { status, message, nested }: ErrorEntry = errors[code]
  const { rate, quota, waitSeconds, allow, challenge, details, fill = [String(waitSeconds)] } = told
  const values = [...fill]
  const filled = (text: string) => text.replace(/\bX\b/g, () => values.shift() ?? '')
  const headers = {
    'cache-control': 'no-store',
    'content-type': 'application/json; charset=utf-8',
    ...(allow === undefined ? {} : { allow }),
    ...(challenge === undefined ? {} : { 'www-authenticate': challenge }),
    ...(waitSeconds === undefined ? {} : { 'retry-after': String(waitSeconds) }),
    ...rate,
    ...quota,
  }
  const explained = details === undefined ? {} : { details }
  if (form === 'a') return { status, headers, body: { error: filled(message), code, ...explained } }
  const own = nested ?? { code, message }
  // For `rate_limited` alone (docs/contract.md#form-of-errors).
  const retry = code === 'rate_limited' ? { retry_after: waitSeconds } : {}
  return {
    status,
    headers,
    body: { error: { code: own.code, message: filled(own.message), ...retry, ...explained } },
  }
}

/** The only answer that costs quota, and the only one after which a file has changed. */
function served(asked: Case, nowMs: number): Answer {
  const { account, sheet, form, key, method, row } = asked
  const { windows, month } = allowanceOf(asked)
  for (const { window } of windows) count(window, nowMs)
  account[month]++
  const isRead = method === 'GET'
  const keptByReaders = key === 'none' ? 'public, max-age=10' : 'private, no-cache'
  const headers = {
    'cache-control': isRead ? keptByReaders : 'no-store',
    'content-type': 'application/json; charset=utf-8',
    ...tightest(windows, nowMs),
    ...quotaHeaders(asked),
  }
  if (method === 'PUT' || method === 'DELETE') {
    const former = sheet.rows.shift()
    if (method === 'PUT') sheet.rows.unshift(goodRow)
    const data = method === 'PUT' ? goodRow : former
    const message = `Row 2 ${method === 'PUT' ? 'updated' : 'deleted'}`
    const body = form === 'a' ? { success: true, message, row: 2, data } : { data, meta: { row: 2 } }
    return { status: 200, headers, body }
  }
  if (!isRead) {
    sheet.rows.push(goodRow)
    const number = sheet.rows.length + 1
    const rows = [{ _row: number, ...goodRow }]
    const location = `${form === 'a' ? sheet.place.formA : sheet.place.formB}/${number}`
    const body =
      form === 'a'
        ? { success: true, message: '1 row(s) added', rows_added: 1, rows }
        : { data: rows, meta: { rows_added: 1, rows: [number] } }
    return { status: 201, headers: { ...headers, location }, body }
  }
  const data = row === 'none' ? [...sheet.rows] : sheet.rows[0]
  if (form === 'a') return { status: 200, headers, body: data }
  const as_of = new Date(nowMs).toISOString()
  const total = sheet.rows.length
  const rows = sheet.rows.map((_, at) => at + 2)
  const ofList = { total, count: total, limit: null, offset: 0, columns: ['name', 'price'], rows, as_of }
  return { status: 200, headers, body: { data, meta: row === 'none' ? ofList : { row: 2, as_of } } }
}

function left({ count, endsAtMs }: Window, limit: number, nowMs: number): number {
  return endsAtMs === null || nowMs >= endsAtMs ? limit : limit - count
}

function count(window: Window, nowMs: number): void {
  window.endsAtMs ??= nowMs + windowMs
  assert.ok(nowMs < window.endsAtMs, 'the table takes no time, so no window ends')
  window.count++
}

function rateHeaders(window: Window, limit: number, nowMs: number): Record<string, string> {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(left(window, limit, nowMs)),
    'x-ratelimit-reset': String(Math.ceil((window.endsAtMs ?? nowMs + windowMs) / 1_000)),
  }
}

function quotaHeaders(asked: Case): Record<string, string> {
  const { perMonth } = asked.account
  return {
    'x-quota-limit': String(perMonth),
    'x-quota-remaining': String(perMonth - asked.account[allowanceOf(asked).month]),
    'x-quota-reset': String(monthEndMs / 1_000),
  }
}

function secondsUntil(atMs: number | null, nowMs: number): number {
  return Math.ceil(((atMs ?? nowMs) - nowMs) / 1_000)
}

test('whatever conditions meet, the request is answered by the first that holds, in both forms', {
  timeout: patienceMs,
}, async (t) => {
  const shares = { ...defaultShares, public_requests_per_minute: publicPerMinute }
  const rowport = await startRowport(t, {
    settings: { refusalsPerMinute, trustedProxies: ['127.0.0.1'], shares },
  })
  const { clock, workshop } = rowport
  const client = createClient(rowport.port)
  t.after(client.close)
  const foreignKey = await rowport.createKey()
  const accounts: Account[] = []
  for (const writeApi of yesNo)
    for (const perMinute of [plenty, few])
      for (const perMonth of [plenty, few]) {
        const slug = `account-${accounts.length}`
        accounts.push(await createAccount(rowport, { slug, writeApi, perMinute, perMonth }, foreignKey.value))
      }
  const callers: Caller[] = []
  const wrong: { title: string; actual: Answer; expected: Answer }[] = []
  const told = new Map<string, number>()
  const sent = () => accounts.reduce((sum, { turn }) => sum + turn, 0)

  // Windows, months and an address are used up by requests like any other, some seconds before the rest.
  const [someAccount] = accounts
  assert.ok(someAccount)
  for (const account of accounts) {
    if (account.perMonth === few || account.perMinute === few)
      for (let n = 0; n < few; n++) await check({ ...goodRead(account), caller: newCaller() })
    if (account.perMinute === few)
      for (let n = 0; n < few; n++) await check({ ...goodRead(account), caller: newCaller(), key: 'test' })
  }
  const usedUpCaller = newCaller()
  for (let n = 0; n < refusalsPerMinute; n++)
    await check({ ...goodRead(someAccount), caller: usedUpCaller, key: 'bad' })
  clock.advanceMs(12_345)

  const sentBefore = sent()
  const begunMs = performance.now()
  // Each account's requests come one after the other, so that what is left can be told exactly.
  await Promise.all(accounts.map(checkAllOf))
  const combinations = sent() - sentBefore
  const seconds = ((performance.now() - begunMs) / 1_000).toFixed(1)
  const [first] = wrong
  if (first) {
    const title = `${wrong.length} of ${combinations} answers are wrong, the first to ${first.title}`
    assert.deepEqual(first.actual, first.expected, title)
  }
  const codes = Object.entries<ErrorEntry>(errors).flatMap(([code, { nested }]) => [
    code,
    nested?.code ?? code,
  ])
  assert.deepEqual([...told.keys()].sort(), [...new Set([...codes, '200', '201'])].sort())
  const counts = [...told].map(([code, times]) => `${code} ${times}`).join(', ')
  process.stdout.write(`${combinations} combinations in ${seconds} s: ${counts}\n`)

  await t.test("an account's windows counted what was admitted, and nothing else", async () => {
    for (const account of accounts) {
      // A pause tells what is left and takes nothing.
      const sheet = account.sheets.find(({ isPaused, acceptsTest }) => isPaused && acceptsTest)
      assert.ok(sheet)
      for (const key of ['read', 'test'] as const)
        await check({ ...goodRead(account), sheet, caller: newCaller(), key })
    }
    assert.deepEqual(wrong, [])
  })

  await t.test(
    'an address paid for each time it was refused as a stranger, and for nothing else',
    async () => {
      for (const caller of [...callers]) {
        // Up to its limit and once beyond.
        for (let n = left(caller.refusals, refusalsPerMinute, clock.nowMs()); n >= 0; n--)
          await check({ ...goodRead(someAccount), caller, key: 'bad' })
      }
      assert.deepEqual(wrong, [])
    },
  )

  await t.test('files hold the rows that were told to be there, and no others', async () => {
    for (const { place, isGone, rows } of accounts.flatMap(({ sheets }) => sheets)) {
      const text = `name,price\n${rows.map((row) => `${Object.values(row).join(',')}\n`).join('')}`
      if (isGone) assert.equal(existsSync(place.path), false, place.formA)
      else assert.equal(await readFile(place.path, 'utf8'), text, place.formA)
    }
  })

  await t.test('the month was charged for successes, and for nothing else', async () => {
    await rowport.stopServer()
    for (const { slug, used, publicUsed } of accounts) {
      const { id } = done(await workshop.accounts.find(slug))
      const { charged } = await workshop.store.chargeAhead(id, monthStartMs, plenty, 0)
      assert.equal(charged, used, slug)
      const ofPublic = await workshop.store.chargePublicAhead(id, monthStartMs, plenty, 0)
      assert.equal(ofPublic.charged, publicUsed, slug)
    }
  })

  async function checkAllOf(account: Account): Promise<void> {
    let stranger = newCaller()
    for (const where of ['here', 'no route', 'no account', 'no sheet'] as const)
      for (const form of ['a', 'b'] as const) {
        // An id names a sheet, and with it the account.
        if (where === 'no account' && form === 'b') continue
        for (const isCallerUsedUp of yesNo) {
          // Where no sheet is looked for, its state is nobody's: one of them stands for all.
          const isLookedFor = where === 'here' && !isCallerUsedUp
          for (const sheet of isLookedFor ? account.sheets : account.sheets.slice(-1))
            for (const key of keyKinds)
              for (const ask of asks) {
                // What a sheet accepts matters to those who send a good key; two kinds stand for them.
                if (!sheet.acceptsTest && isLookedFor && key !== 'test' && key !== 'read-write') continue
                if (left(stranger.refusals, refusalsPerMinute, clock.nowMs()) === 0) stranger = newCaller()
                const caller = isCallerUsedUp ? usedUpCaller : stranger
                await check({ account, sheet, caller, where, form, key, ...ask })
              }
        }
      }
  }

  async function check(asked: Case): Promise<void> {
    asked.account.turn++
    const wanted = requestFor(asked)
    const expected = expectedAnswer(asked, clock.nowMs())
    const actual = await client.send(wanted)
    const outcome = codeIn(actual.body) ?? String(actual.status)
    told.set(outcome, (told.get(outcome) ?? 0) + 1)
    if (!isDeepStrictEqual(actual, expected)) wrong.push({ title: titleOf(asked, wanted), actual, expected })
  }

  function newCaller(): Caller {
    const n = callers.length
    const caller = { ip: `10.0.${n >> 8}.${n & 255}`, refusals: newWindow(), reads: newWindow() }
    callers.push(caller)
    return caller
  }
})

function newWindow(): Window {
  return { count: 0, endsAtMs: null }
}

function goodRead(account: Account): Omit<Case, 'caller'> {
  const [sheet] = account.sheets
  assert.ok(sheet)
  return { account, sheet, where: 'here', form: 'a', key: 'read', method: 'GET', row: 'none', body: 'none' }
}

/** An account with a sheet in every state; the first has nothing in the way. */
async function createAccount(
  rowport: Rowport,
  kind: Pick<Account, 'slug' | 'writeApi' | 'perMinute' | 'perMonth'>,
  foreignKey: string,
): Promise<Account> {
  const { workshop } = rowport
  const { slug, writeApi, perMinute, perMonth } = kind
  const plan = writeApi ? 'pro' : 'free'
  done(await workshop.accounts.create(slug, plan))
  const own = { requestsPerMinute: perMinute, requestsPerMonth: perMonth }
  done(await workshop.accounts.setPlan(slug, plan, own))
  const credentialId = await createExpiredCredential(rowport, slug)
  const sheets: Sheet[] = []
  for (const needsReconnect of [false, true])
    for (const isGone of [false, true])
      for (const isPaused of [false, true])
        for (const acceptsTest of [true, false])
          for (const isPublic of [false, true]) {
            const name = `sheet-${sheets.length}`
            const access = isPublic ? 'public-read' : 'private'
            const place = await rowport.connectFile(name, `${slug}-${name}.csv`, fileText, {
              account: slug,
              access,
              ...(needsReconnect && { credentialId }),
            })
            if (isPaused) done(await workshop.sheets.setPaused(slug, name, true))
            if (!acceptsTest) done(await workshop.sheets.change(slug, name, { accepts: 'live' }))
            if (isGone) await rm(place.path)
            const rows = [{ name: 'Oak', price: 1 }]
            const reads = newWindow()
            sheets.push({ place, isPublic, isPaused, acceptsTest, isGone, needsReconnect, reads, rows })
          }
  await rowport.connectFile('other', `${slug}-other.csv`, fileText, { account: slug })
  const createValue = async (wish: Parameters<Rowport['createKey']>[0]) =>
    (await rowport.createKey({ account: slug, ...wish })).value
  const revoked = await rowport.createKey({ account: slug })
  done(await workshop.keys.revoke(revoked.id))
  const keys = {
    read: await createValue({ scope: 'read' }),
    'read-write': await createValue({ scope: 'read-write' }),
    test: await createValue({ mode: 'test', scope: 'read-write' }),
  }
  const badKeys = [
    'nonsense',
    revoked.value,
    foreignKey,
    await createValue({ sheet: 'other' }),
    `${keys.read}0`,
  ]
  const counts = { live: newWindow(), test: newWindow(), used: 0, publicUsed: 0, turn: 0 }
  return { ...kind, ...counts, keys, badKeys, sheets }
}

/** A file needs none; it is given one all the same, because here only the state of it counts. */
async function createExpiredCredential({ workshop }: Rowport, slug: string): Promise<string> {
  const { id: accountId } = done(await workshop.accounts.find(slug))
  const { id, version } = await workshop.store.saveCredential({
    accountId,
    provider: 'google',
    subject: 'someone',
    label: 'someone@example.com',
    scopes: '',
    seal: () => ({ sealedToken: 'sealed', keyId: 'key' }),
  })
  assert.ok(await workshop.store.expireCredential(id, version, 'for this test'))
  return id
}

interface Wanted {
  /** Requests of one lane share a connection. */
  lane: string
  method: string
  path: string
  headers: Record<string, string>
  body: string | null
}

/** A case as its account's turn spells it: the key in one of three places, the row in one of two. */
function requestFor(asked: Case): Wanted {
  const { account, sheet, caller, where, form, key, method, row, body } = asked
  const { turn } = account
  const here = form === 'a' ? sheet.place.formA : sheet.place.formB
  const places = {
    here,
    'no route': `${here}/2/3`,
    'no account': '/api/sheets/nobody/sheet-0',
    'no sheet': form === 'a' ? `/api/sheets/${account.slug}/nothing` : '/v1/sheets/sh_nothing',
  }
  const headers: Record<string, string> = { 'X-Forwarded-For': caller.ip }
  const query: string[] = []
  let path = places[where]
  if (row !== 'none') {
    // A change without a row number is as wrong as one with a bad one; a read without is a list.
    const number = row === 'good' ? '2' : pick(method === 'GET' ? badRows : [...badRows, noRow], turn)
    const isInQuery = method !== 'POST' && pick(yesNo, turn + 1)
    if (number !== noRow && isInQuery) query.push(`row=${number}`)
    else if (number !== noRow) path += `/${number}`
  }
  if (key !== 'none') {
    const value = key === 'bad' ? pick(account.badKeys, turn) : account.keys[key]
    const place = pick(['Authorization', 'X-API-Key', 'api_key'], turn + 2)
    if (place === 'api_key') query.push(`api_key=${value}`)
    else headers[place] = place === 'Authorization' ? `Bearer ${value}` : value
  }
  if (query.length > 0) path += `?${query.join('&')}`
  // PATCH is PUT by another name.
  const verb = method === 'PUT' ? pick(['PUT', 'PATCH'], turn + 3) : method
  const bodies = { none: null, good: JSON.stringify(goodRow), bad: badBodyOf(asked)[0] }
  return { lane: account.slug, method: verb, path, headers, body: bodies[body] }
}

function titleOf({ account, sheet, key, where, form, row, body }: Case, { method, path }: Wanted): string {
  const { writeApi, perMinute, perMonth } = account
  const { isPublic, isPaused, acceptsTest, isGone, needsReconnect } = sheet
  const states = { where, form, key, row, body, writeApi, perMinute, perMonth }
  const conditions = JSON.stringify({ ...states, isPublic, isPaused, acceptsTest, isGone, needsReconnect })
  return `${method} ${path.replace(/api_key=.*/, 'api_key=…')} ${conditions}`
}

function codeIn(body: unknown): string | null {
  const { code, error } = body as { code?: string; error?: { code?: string } }
  return code ?? error?.code ?? null
}

/** One connection for each lane, and no more of HTTP than the server speaks here: the table is long. */
function createClient(port: number) {
  const sockets = new Map<string, Socket>()

  return {
    async send({ lane, method, path, headers, body }: Wanted): Promise<Answer> {
      const socket =
        sockets.get(lane) ?? connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1')
      sockets.set(lane, socket)
      const length = body === null ? {} : { 'Content-Length': Buffer.byteLength(body) }
      const lines = Object.entries({ Host: 'rowport.test', ...headers, ...length })
      const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
      socket.write(`${method} ${path} HTTP/1.1\r\n${head}\r\n${body ?? ''}`)
      return new Promise((resolve, reject) => {
        let text = ''
        socket.on('data', read).on('close', cut)
        function read(chunk: string) {
          text += chunk
          const answer = parseAnswer(text)
          if (!answer) return
          socket.off('data', read).off('close', cut)
          resolve(answer)
        }
        function cut() {
          reject(new Error(`The server hung up after ${JSON.stringify(text)}`))
        }
      })
    },
    close() {
      for (const socket of sockets.values()) socket.destroy()
    },
  }
}

/** null while some of it is still to come. */
function parseAnswer(text: string): Answer | null {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd === -1) return null
  const [statusLine = '', ...lines] = text.slice(0, headEnd).split('\r\n')
  const headers: Record<string, string> = {}
  let length = 0
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 2)
    if (name === 'content-length') length = Number(value)
    if (judgedHeaders.has(name)) headers[name] = value
  }
  const body = text.slice(headEnd + 4)
  assert.ok(body.length <= length, 'more came than was announced')
  if (body.length < length) return null
  // Where the log stands says nothing of checks.
  const told = JSON.parse(body.replace(/,"cursor":"[^"]+"/, ''))
  return { status: Number(statusLine.split(' ')[1]), headers, body: told }
}
