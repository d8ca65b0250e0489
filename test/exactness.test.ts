import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openWorkshop } from '../src/assemble/open-workshop.ts'
import type { Workshop } from '../src/assemble/workshop.ts'
import { systemClock } from '../src/clock.ts'
import { parseConfig } from '../src/config.ts'
import type { FreshKey } from '../src/management/keys/keys.ts'
import { locateFile } from '../src/providers/file/file-location.ts'
import type { KeyScope } from '../src/store/sql/schema.ts'
import { done, startRowport } from './harness.ts'
import { createLoadClient, type LoadClient } from './load-clients.ts'
import { type Finished, freshPlace, type Place } from './process/running.ts'
import { patienceMs, times } from './soak.ts'

/**
 * What was changed holds for every request that starts after the change returned (docs/contract.md#order-of-checks).
 */

test('changes by commands and by the owner, under load: nothing is answered by the old rule', {
  timeout: patienceMs,
}, async (t) => {
  const place = await freshPlace(t)
  const server = await place.start({ env: { ROWPORT_REFUSALS_PER_MINUTE: '1000000' } })
  const config = parseConfig({ ROWPORT_DATA: place.dataFolder }, false)
  assert.ok(!('problems' in config))
  const workshop = await openWorkshop(config, systemClock, () => {})
  try {
    const { port } = server
    const target = { port, folder: place.folder, workshop, place }
    await loadAndChange(t, target, {
      groups: 5,
      clients: 50,
      changes: times(110, 220),
      requests: times(15_000, 50_000),
    })
  } finally {
    await workshop.close()
  }
  assert.equal(server.stderr().includes('malfunction'), false, server.stderr())
})

test('the same where the change is made inside the server, as the owner does', async (t) => {
  const { port, folder, workshop } = await startRowport(t)
  const target = { port, folder, workshop, place: null }
  await loadAndChange(t, target, { groups: 2, clients: 20, changes: 40, requests: 5_000 })
})

interface Target {
  port: number
  folder: string
  workshop: Workshop
  /** Where commands can be run; null leaves them out. */
  place: Place | null
}

interface Size {
  groups: number
  clients: number
  changes: number
  requests: number
}

/** As soon as even a crowded machine has the next request on its way. */
const soonMs = 250

/** A rule and the change that made it, in the order of the changes. */
type History<T> = { value: T; begunMs: number; returnedMs: number }[]

/** An account with its sheets and keys: a change touches only the requests of its group. */
interface Group {
  account: string
  plan: History<PlanName>
  sheets: { slug: string; id: string; isPaused: History<boolean> }[]
  slots: { key: IssuedKey; former: IssuedKey | null }[]
}

interface IssuedKey {
  id: string
  value: string
  rights: History<'none' | KeyScope>
}

/** `spent`: a month of one request, which was made. */
type PlanName = 'unlimited' | 'free' | 'spent'
type Kind = 'revoke' | 'regenerate' | 'pause' | 'resume' | 'plan' | 'scope'
type By = 'command' | 'process' | 'management'

interface AnsweredRequest {
  group: Group
  sheet: Group['sheets'][number]
  key: IssuedKey
  isWrite: boolean
  begunMs: number
  endedMs: number
  outcome: string
}

const plans: Record<
  PlanName,
  { plan: string; requestsPerMinute: number | null; requestsPerMonth: number | null }
> = {
  unlimited: { plan: 'enterprise', requestsPerMinute: null, requestsPerMonth: null },
  free: { plan: 'free', requestsPerMinute: 999_999_999, requestsPerMonth: 999_999_999 },
  spent: { plan: 'enterprise', requestsPerMinute: null, requestsPerMonth: 1 },
}
const planOrder: readonly PlanName[] = ['free', 'unlimited', 'spent', 'unlimited']
const kindOrder: readonly Kind[] = [
  'pause',
  'plan',
  'scope',
  'resume',
  'regenerate',
  'plan',
  'revoke',
  'scope',
]

async function loadAndChange(t: TestContext, target: Target, size: Size): Promise<void> {
  const groups = await Promise.all(
    Array.from({ length: size.groups }, (_, at) => createGroup(target, `group-${at}`)),
  )
  const requests: AnsweredRequest[] = []
  const made: { kind: Kind; by: By }[] = []
  const load = { isOver: false, unanswered: 0 }
  const clients = Array.from({ length: size.clients }, createLoadClient)
  t.after(() => {
    load.isOver = true
    for (const client of clients) client.close()
  })

  const begunMs = performance.now()
  const loading = clients.map((client, at) => loadWith(client, pick(groups, at), at))
  const changing = groups.map((group, at) => changeAll(group, at))
  await Promise.all(changing).finally(() => {
    load.isOver = true
  })
  await Promise.all(loading)
  const seconds = (performance.now() - begunMs) / 1_000

  const { judged, soon, violations } = judgeAll(requests)
  const count = (wanted: Partial<(typeof made)[number]>) =>
    made.filter(({ kind, by }) => (wanted.kind ?? kind) === kind && (wanted.by ?? by) === by).length
  const kinds = [...new Set(kindOrder)].map((kind) => `${kind} ${count({ kind })}`)
  const ways = (['command', 'process', 'management'] as const).map((by) => `${by} ${count({ by })}`)
  process.stdout.write(
    `exactness: ${made.length} changes (${kinds.join(', ')}; by ${ways.join(', ')}), ` +
      `${requests.length} requests of ${size.clients} clients in ${seconds.toFixed(1)} s, ` +
      `${judged} judged after a change, ${soon} of them begun within ${soonMs} ms of it, ` +
      `${violations.length} violations\n` +
      `answers: ${tally(requests.map(({ outcome }) => outcome))}\n`,
  )
  assert.deepEqual(violations.slice(0, 5), [])
  assert.equal(load.unanswered, 0)
  assert.ok(requests.length >= size.requests && made.length >= size.changes)
  if (target.place) assert.ok(count({ by: 'process' }) >= made.length / 20)
  // A test that looks away finds nothing either.
  assert.ok(judged > requests.length / 2 && soon > made.length)

  /** Keys, sheets, forms and methods in turns that have no common divisor, so that every combination comes. */
  async function loadWith(client: LoadClient, group: Group, from: number): Promise<void> {
    for (let n = from; !load.isOver; n++) {
      const slot = pick(group.slots, n)
      const key = n % 5 < 2 && slot.former ? slot.former : slot.key
      const sheet = pick(group.sheets, n)
      const isWrite = n % 7 === 0
      const address = n % 11 < 5 ? `/v1/sheets/${sheet.id}` : `/api/sheets/${group.account}/${sheet.slug}`
      const answer = await client.ask({
        port: target.port,
        path: isWrite ? address : `${address}?limit=1`,
        apiKey: key.value,
        // Most writes are admitted and then refused for their empty body: a real one costs the disk ten times as much.
        ...(isWrite && { body: n % 29 === 0 ? '{"name":"x"}' : '[]' }),
      })
      if (answer.status === null) {
        if (!load.isOver) load.unanswered++
        continue
      }
      const { begunMs, endedMs } = answer
      requests.push({ group, sheet, key, isWrite, begunMs, endedMs, outcome: outcomeOf(answer) })
    }
  }

  /** Each change waits for its share of the requests, so that they are spread over the load on any machine. */
  async function changeAll(group: Group, groupAt: number): Promise<void> {
    const changes = Math.ceil(size.changes / size.groups)
    for (let n = 0; n < changes; n++) {
      await reached((size.requests * (n + groupAt / size.groups)) / changes)
      const by = wayOf(n, groupAt)
      const kind = pick(kindOrder, n)
      await change(target, group, kind, by, n)
      made.push({ kind, by })
    }
    await reached(size.requests)
  }

  async function reached(count: number): Promise<void> {
    while (requests.length < count && !load.isOver) await sleep(2)
  }

  /** The start of a process takes most of a second, so only some are made by one. */
  function wayOf(n: number, groupAt: number): By {
    if (!target.place) return 'management'
    if ((n + groupAt * 3) % 16 === 5) return 'process'
    return n % 3 === 0 ? 'management' : 'command'
  }
}

async function createGroup({ port, folder, workshop }: Target, account: string): Promise<Group> {
  const { accounts, sheets, keys } = workshop
  done(await accounts.create(account, 'enterprise'))
  const group: Group = { account, plan: always('unlimited'), sheets: [], slots: [] }
  for (const slug of ['one', 'two']) {
    const path = join(folder, `${account}-${slug}.csv`)
    await writeFile(path, 'name\nfirst\n')
    const asked = { accountSlug: account, sheetSlug: slug, access: 'private' as const, provider: 'file' }
    const { id } = done(await sheets.connect({ ...asked, ...locateFile(path, null) }))
    group.sheets.push({ slug, id, isPaused: always(false) })
  }
  for (const scope of ['read-write', 'read-write', 'read'] as const) {
    const { record, value } = done(await keys.create(keyFor(account, scope)))
    group.slots.push({ key: { id: record.id, value, rights: always(scope) }, former: null })
  }

  const [slot] = group.slots
  const client = createLoadClient()
  const read = { port, path: `/api/sheets/${account}/one`, apiKey: slot?.key.value ?? '' }
  const { plan, ...limits } = plans.spent
  done(await accounts.setPlan(account, plan, limits))
  assert.equal((await client.ask(read)).status, 200)
  assert.equal((await client.ask(read)).status, 429)
  client.close()
  const { plan: first, ...firstLimits } = plans.unlimited
  done(await accounts.setPlan(account, first, firstLimits))
  return group
}

function keyFor(accountSlug: string, scope: KeyScope) {
  return { accountSlug, sheetSlug: null, name: 'load', mode: 'live' as const, scope }
}

async function change(target: Target, group: Group, kind: Kind, by: By, n: number): Promise<void> {
  const { accounts, sheets, keys } = target.workshop
  const { account } = group
  if (kind === 'pause' || kind === 'resume') {
    const paused = kind === 'pause'
    // Each pause takes the next sheet, and the resume after it the same one.
    const { slug, isPaused } = pick(group.sheets, Math.floor(n / kindOrder.length))
    const outcome = await timed(['sheet', kind, `${account}/${slug}`], () =>
      sheets.setPaused(account, slug, paused),
    )
    isPaused.push({ value: paused, ...outcome.times })
    return
  }
  if (kind === 'plan') {
    const value = pick(planOrder, group.plan.length - 1)
    const { plan, ...own } = plans[value]
    const words = ['account', 'plan', account, plan]
    if (own.requestsPerMinute !== null) words.push('--per-minute', String(own.requestsPerMinute))
    if (own.requestsPerMonth !== null) words.push('--per-month', String(own.requestsPerMonth))
    const outcome = await timed(words, () => accounts.setPlan(account, plan, own))
    group.plan.push({ value, ...outcome.times })
    return
  }
  const slot = pick(group.slots, n)
  const { key } = slot
  const scope = key.rights.at(-1)?.value === 'read' ? 'read' : 'read-write'
  if (kind === 'scope') {
    const value = scope === 'read' ? 'read-write' : 'read'
    const outcome = await timed(['key', 'scope', key.id, value], () => keys.setScope(key.id, value))
    key.rights.push({ value, ...outcome.times })
    return
  }
  if (kind === 'revoke') {
    const outcome = await timed(['key', 'revoke', key.id], () => keys.revoke(key.id))
    key.rights.push({ value: 'none', ...outcome.times })
    const { record, value } = done(await keys.create(keyFor(account, scope)))
    slot.key = { id: record.id, value, rights: always(scope) }
  } else {
    const { answer, times } = await timed(['key', 'regenerate', key.id], () => keys.regenerate(key.id))
    key.rights.push({ value: 'none', ...times })
    const { id, key: value } = freshKeyOf(answer)
    slot.key = { id, value, rights: always(scope) }
  }
  slot.former = key

  async function timed(words: readonly string[], call: () => Promise<unknown>) {
    const begunMs = performance.now()
    const answer = by === 'management' ? done(await call()) : await commanded(words)
    return { answer, times: { begunMs, returnedMs: performance.now() } }
  }

  async function commanded(words: readonly string[]): Promise<unknown> {
    const { place } = target
    if (!place) throw new Error('There are no commands here')
    const asked = [...words, '--json']
    const run: Promise<Finished> = by === 'process' ? place.rowport(asked) : place.rowportHere(asked)
    const { code, stdout, stderr } = await run
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }
}

/** The command shows it in JSON, the function returns it. */
function freshKeyOf(answer: unknown): { id: string; key: string } {
  const fresh = answer as { id: string; key: string } | FreshKey
  return 'record' in fresh ? { id: fresh.record.id, key: fresh.value } : fresh
}

function outcomeOf({ status, code }: { status: number; code: string | null }): string {
  if (status === 200 || status === 201 || code === 'invalid_body') return 'admitted'
  // Form B has its own word for it (docs/contract.md#form-of-errors).
  return code === 'forbidden' ? 'invalid_api_key' : (code ?? `status ${status}`)
}

/** docs/contract.md#order-of-checks, in the words of this test. */
function expected(rights: 'none' | KeyScope, isPaused: boolean, plan: PlanName, isWrite: boolean): string {
  if (rights === 'none') return 'invalid_api_key'
  if (isPaused) return 'sheet_paused'
  if (isWrite && plan === 'free') return 'write_api_not_enabled'
  if (isWrite && rights === 'read') return 'insufficient_scope'
  return plan === 'spent' ? 'usage_limit_exceeded' : 'admitted'
}

function judgeAll(requests: readonly AnsweredRequest[]) {
  const violations: string[] = []
  let judged = 0
  let soon = 0
  for (const request of requests) {
    const { group, sheet, key, isWrite, begunMs, outcome } = request
    const rights = inForce(key.rights, request)
    const isPaused = inForce(sheet.isPaused, request)
    const plan = inForce(group.plan, request)
    const allowed = new Set(
      rights.flatMap((right) =>
        isPaused.flatMap((pause) => plan.map((name) => expected(right, pause, name, isWrite))),
      ),
    )
    const lastChangeMs = Math.max(
      ...[key.rights, sheet.isPaused, group.plan].map((history) => lastReturnedMs(history, begunMs)),
    )
    // While a change is under way, the old rule and the new one are both right.
    if (rights.length * isPaused.length * plan.length === 1 && lastChangeMs > 0) {
      judged++
      if (begunMs - lastChangeMs < soonMs) soon++
    }
    if (allowed.has(outcome)) continue
    violations.push(
      `${isWrite ? 'write' : 'read'} begun ${(begunMs - lastChangeMs).toFixed(2)} ms after the last change: ` +
        `${outcome}, not ${[...allowed].join(' or ')}`,
    )
  }
  return { judged, soon, violations }
}

/** All but what a change had replaced before the request began, and what came after it ended. */
function inForce<T>(history: History<T>, { begunMs, endedMs }: AnsweredRequest): T[] {
  const possible = history.filter((rule, at) => {
    const replaced = history[at + 1]
    return rule.begunMs <= endedMs && (replaced === undefined || begunMs <= replaced.returnedMs)
  })
  return possible.map(({ value }) => value)
}

function lastReturnedMs(history: History<unknown>, beforeMs: number): number {
  return history.findLast(({ returnedMs }) => returnedMs < beforeMs)?.returnedMs ?? 0
}

function always<T>(value: T): History<T> {
  return [{ value, begunMs: 0, returnedMs: 0 }]
}

function tally(words: readonly string[]): string {
  const counts = Map.groupBy(words, (word) => word)
  return [...counts].map(([word, all]) => `${word} ${all.length}`).join(', ')
}

function pick<T>(items: readonly T[], at: number): T {
  const item = items[at % items.length]
  if (item === undefined) throw new Error('There is none')
  return item
}
