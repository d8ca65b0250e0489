import assert from 'node:assert/strict'
import { Refusal } from '../../../src/errors.ts'
import { createLoopTurns } from '../../../src/shares/loop-turns.ts'
import { defaultShares } from '../../../src/shares/shares.ts'
import type { Fetched } from '../../../src/sheets/provider.ts'
import { OutcomeUnknown } from '../../../src/sheets/provider-failure.ts'
import type { Decoding } from '../../../src/sheets/reading/decoding.ts'
import { createReading } from '../../../src/sheets/reading/reading.ts'
import { buildSnapshot } from '../../../src/sheets/rows/build-snapshot.ts'
import type { Cell } from '../../../src/sheets/rows/grid.ts'
import type { RowInput } from '../../../src/sheets/rows/row-input.ts'
import { noLog } from '../../../src/sheets/sheet-log.ts'
import { noTurn } from '../../../src/sheets/threads/no-turn.ts'
import type { Wish, WriteAnswer } from '../../../src/sheets/writing/order.ts'
import { createWriting, type Writing } from '../../../src/sheets/writing/writing.ts'
import { lifeMs } from '../../../src/store/leases/instance-life.ts'
import type { SheetRecord } from '../../../src/store/sheets/sheets.ts'
import type { Store } from '../../../src/store/store.ts'
import { createFaultyProvider, type Faults, poison, unfit } from './faulty-provider.ts'
import { createMemoryJournal, type InstanceJournal } from './memory-journal.ts'
import { createRandom, createVirtualTime, type VirtualTime } from './virtual-time.ts'

const maxKeptBytes = defaultShares.journal_mb * 1024 * 1024
/** While something is worked out: in these histories only calls take time. */
const noTimePasses = { elapsedMs: () => 0 }

/** What one client asked for and what it was told; `token` is in every row that its write touches. */
export interface Told {
  token: string
  kind: Wish['kind']
  key: string | null
  /** 'unknown' also where the server died before it answered. */
  end: 'done' | 'refused' | 'failed' | 'unknown'
  code: string | null
  answer: WriteAnswer | null
  /** Which instance took it, and as its how manyth; -1 where none did. */
  acceptedBy: number
  acceptedAs: number
  tookMs: number
}

export interface Played {
  told: Told[]
  /** How often each token took effect. */
  effects: Map<string, number>
  log: ReturnType<typeof createFaultyProvider>['sheet']['log']
  rows: Cell[][]
  crashes: number
  leftOpen: number
  undiscarded: number
  wrongRows: number
}

export const simulatedSheet: SheetRecord = {
  id: 'sh_1',
  accountId: 'acc_1',
  slug: 's',
  provider: 'faulty',
  source: 'far:1',
  location: '{}',
  credentialId: null,
  access: 'private',
  paused: false,
  accepts: 'both',
  cacheSeconds: 10,
  staleIfErrorSeconds: 0,
  unknownFields: 'reject',
  keyColumn: null,
  autoKey: 'none',
  historyDays: 0,
  watchSeconds: 0,
  writeSeq: 0,
  createdAtMs: 0,
}
const sheet = simulatedSheet
const patienceMs = 26_000
const horizonMs = 30 * 60_000
/** Nothing comes later than this, and nobody stays a client for longer. */
const latestMs = 60_000
/** For what is still open then: forgotten operations are looked for once an hour. */
const afterwardsMs = 130 * 60_000
const signEveryMs = 1_000

export interface Wishes {
  clients: number
  writesEach: number
  crashes: number
  /** That serve at the same time, on one store. */
  instances: number
  /** Half of the clients name rows by what they hold, some many at once; and a person sorts and inserts where that is noticed. */
  isByContent?: boolean
}

/** As an instance does while it lives. */
export async function liveOn(
  store: Pick<InstanceJournal, 'stayAlive'>,
  time: VirtualTime,
  isOver: () => boolean,
): Promise<void> {
  if (isOver()) return
  time.after(signEveryMs, () => void liveOn(store, time, isOver))
  await store.stayAlive(lifeMs)
}

/** One random history of clients, faults and crashes; the same seed gives the same. */
export async function play(
  seed: number,
  { clients, writesEach, crashes, instances, isByContent = false }: Wishes,
): Promise<Played> {
  const random = createRandom(seed)
  const time = createVirtualTime(0)
  const faults = facing(random)
  const provider = createFaultyProvider([['id', 'value'], ...startRows()], time, random, faults)
  const storeTrouble = random() < 0.3 ? 0.03 : 0
  const trouble = () => (random() >= storeTrouble ? 'none' : random() < 0.5 ? 'before' : 'after')
  const journal = createMemoryJournal(sheet, time, trouble, () => random() < 0.3)
  const told: Told[] = []
  let lives = 0
  const servers = Array.from({ length: instances }, () => start())
  let crashed = 0
  const working = Array.from({ length: clients }, (_, at) => client(at))
  let isDone = false
  void Promise.all(working).then(() => {
    isDone = true
  })
  for (let n = 0; n < crashes; n++) time.after(random() * 20_000, crash)
  const personEdits = isByContent && faults.isConditional ? 6 : 0
  for (let n = 0; n < personEdits; n++) time.after(random() * 8_000, () => personEdit(n))
  await time.run(() => isDone || time.nowMs() > horizonMs)
  assert.ok(isDone, `seed ${seed}: someone was never answered`)
  const doneAtMs = time.nowMs()
  await time.run(() => {
    const passedMs = time.nowMs() - doneAtMs
    return passedMs > afterwardsMs || (passedMs > latestMs && countOpen() === 0)
  })

  const effects = new Map<string, number>()
  let wrongRows = 0
  for (const { change, result } of provider.sheet.log) {
    if (change.kind === 'add') for (const row of change.rows) count(subjectOf(row))
    else if (change.kind === 'update') {
      const [target, token] = String(change.cells[0]?.value).split('>')
      count(String(change.cells[0]?.value))
      if (result.kind === 'update' && !String(result.row[0]).startsWith(target ?? '')) wrongRows++
      assert.ok(token)
    } else if (result.kind === 'delete') count(`delete ${result.row[0]}`)
  }
  return {
    told,
    effects,
    log: provider.sheet.log,
    rows: provider.sheet.rows,
    crashes: crashed,
    leftOpen: countOpen(),
    undiscarded: crashed > 0 ? 0 : provider.prepared - provider.discarded,
    wrongRows,
  }

  /** Of an upsert that found nothing to change, what it would have written there. */
  function subjectOf([id, value]: readonly Cell[]): string {
    return String(value).includes('>') ? String(value) : String(id)
  }

  function personEdit(n: number): void {
    const { sheet: far } = provider
    const [header = [], ...rows] = far.rows
    if (random() < 0.5) rows.splice(Math.floor(random() * rows.length), 0, [`person ${n}`, 'x'])
    else rows.sort(() => random() - 0.5)
    far.rows.splice(0, far.rows.length, header, ...rows)
    far.version++
  }

  function count(token: string): void {
    effects.set(token, (effects.get(token) ?? 0) + 1)
  }

  function countOpen(): number {
    const states = [...journal.operations.values()].map(({ state }) => state)
    return states.filter((state) => state === 'queued' || state === 'sending').length
  }

  function start(): Server {
    const life = { isOver: false, onEnd: [] as (() => void)[] }
    const instance = ++lives
    const ours = journal.of(`life ${instance}`)
    void liveOn(ours, time, () => life.isOver)
    const store = mortal(ours, life) as unknown as Store
    const providers = new Map([['faulty', mortal(provider, life)]])
    const clock = time
    const observe = () => {}
    const decoding: Decoding = {
      async decode(_accountId, fetch) {
        const fetched: Fetched | 'unchanged' | null = await fetch(noTurn)
        if (fetched === null || fetched === 'unchanged') return fetched as never
        const { bytes, version } = fetched
        const snapshot = buildSnapshot({ rows: JSON.parse(Buffer.from(bytes).toString()) as Cell[][] })
        return { version, snapshot, indexed: snapshot }
      },
      inTurn: (_accountId, work) => work(noTurn),
      close: async () => {},
    }
    const reading = createReading({ store, providers, decoding, clock, observe, maxHeldBytes: 1e6 })
    const timers = {
      after: (delayMs: number, work: () => void) => time.after(delayMs, () => life.isOver || work()),
    }
    // As of a sheet whose owner wants no history; with one: test/changes/simulation/.
    const parts = { log: noLog, turns: createLoopTurns(noTimePasses), maxKeptBytes }
    const writing = createWriting({ ...parts, store, providers, reading, clock, observe, timers })
    return { life, writing, instance, accepted: 0 }
  }

  /** What was on its way to the provider may still get there; nothing comes back, and nobody is answered. */
  function crash(): void {
    if (isDone) return
    crashed++
    const at = Math.floor(random() * servers.length)
    const server = servers[at] as Server
    server.life.isOver = true
    for (const tell of server.life.onEnd) tell()
    // One that starts on the same machine knows of it; on another it waits until the lease has run out.
    if (random() < 0.5) journal.endDead(`life ${server.instance}`)
    servers[at] = start()
  }

  async function client(at: number): Promise<void> {
    for (let n = 0; n < writesEach; n++) {
      await time.delay(random() * 800)
      const token = `${at}.${n}`
      const { wish, subject, subjects = [subject] } = chooseWish(token)
      const key = random() < 0.7 ? `key ${token}` : null
      const mine = { kind: wish.kind, key }
      // A client with a key comes again until it knows; one without must not.
      for (let tries = 0; ; tries++) {
        const begunMs = time.nowMs()
        const heard = await ask(wish, key)
        const tookMs = time.nowMs() - begunMs
        const maxTries = { unknown: 200, failed: 3, done: 0, refused: 0 }[heard.end]
        if (key !== null && tries < maxTries) {
          await time.delay(1_000 + random() * 2_000)
          continue
        }
        for (const token of toldOf(subjects, heard.answer)) told.push({ token, ...mine, ...heard, tookMs })
        break
      }
    }
  }

  /** Of many deletions those that were made; whoever was told nothing cannot say which. */
  function toldOf(subjects: readonly string[], answer: WriteAnswer | null): readonly string[] {
    if (answer?.kind !== 'many_deleted') return subjects
    return answer.rowsJson.map((json) => `delete ${(JSON.parse(json) as { id: string }).id}`)
  }

  async function ask(
    wish: Wish,
    key: string | null,
  ): Promise<Pick<Told, 'end' | 'code' | 'answer' | 'acceptedAs' | 'acceptedBy'>> {
    const server = servers[Math.floor(random() * servers.length)] as Server
    const { life } = server
    const died = new Promise<'died'>((resolve) => life.onEnd.push(() => resolve('died')))
    const nothing = { code: null, answer: null, acceptedBy: -1, acceptedAs: -1 }
    // Whoever does not get as far as to have its key learns nothing about what it sent before.
    const progress = { hasKey: key === null }
    const failed = () => (progress.hasKey ? 'failed' : 'unknown')
    try {
      const heard = await Promise.race([died, request(server, wish, key, progress)])
      if (heard === 'died') return { ...nothing, end: 'unknown' }
      const { outcome, acceptedAs } = heard
      if (!(outcome instanceof Refusal)) {
        return { end: 'done', code: null, answer: outcome, acceptedBy: server.instance, acceptedAs }
      }
      const isFinal = outcome.status < 500 && outcome.code !== 'idempotency_in_progress'
      const end = isFinal ? 'refused' : failed()
      return { ...nothing, end, code: outcome.code }
    } catch (error) {
      return { ...nothing, end: error instanceof OutcomeUnknown ? 'unknown' : failed() }
    }
  }

  async function request(server: Server, wish: Wish, key: string | null, progress: { hasKey: boolean }) {
    const { writing } = server
    let claim: string | null = null
    if (key !== null) {
      const asked = { accountId: 'acc_1', sheet, idempotencyKey: key, fingerprint: key }
      const claimed = await writing.claim(asked)
      if (claimed instanceof Refusal) return { outcome: claimed, acceptedAs: -1 }
      if ('replay' in claimed) return claimed.replay(async (outcome) => ({ outcome, acceptedAs: -1 }))
      claim = claimed.claimed
      progress.hasKey = true
    }
    const acceptedAs = server.accepted++
    const order = { sheet, accountId: 'acc_1', wish, claim, bytes: 100, stillAdmitted: async () => null }
    return { outcome: await writing.write(order), acceptedAs }
  }

  function chooseWish(token: string): { wish: Wish; subject: string; subjects?: string[] } {
    if (isByContent && random() < 0.5) return chooseByContent(token)
    const dice = random()
    const target = 1 + Math.floor(random() * (provider.sheet.rows.length - 1))
    const row = provider.sheet.rows[target]
    if (dice < 0.6 || !row) {
      const value = random() < 0.05 ? poison : random() < 0.05 ? unfit : 'x'
      return {
        wish: {
          kind: 'add',
          rows: [
            [
              ['id', token],
              ['value', value],
            ],
          ],
        },
        subject: token,
      }
    }
    // As `If-Match` does: only the very row that the client saw.
    const [id] = row
    const seen = JSON.stringify({ id, value: row[1] ?? null })
    const isRowAsExpected = (_number: number, json: string) => json === seen
    const rowNumber = target + 1
    if (dice < 0.85) {
      const value = `${id}>${token}`
      return { wish: { kind: 'update', rowNumber, row: [['value', value]], isRowAsExpected }, subject: value }
    }
    return { wish: { kind: 'delete', rowNumber, isRowAsExpected }, subject: `delete ${id}` }
  }

  /** Rows by their ids, wherever they stand by then. */
  function chooseByContent(token: string): { wish: Wish; subject: string; subjects?: string[] } {
    const ids = provider.sheet.rows.slice(1).map(([id]) => String(id))
    const id = ids[Math.floor(random() * ids.length)] ?? 'nobody'
    const value = `${id}>${token}`
    const columnIn = () => 0
    const dice = random()
    const row: RowInput = [['value', value]]
    const named = { columnIn, value: id }
    if (dice < 0.3) return { wish: { kind: 'update', named, row, isRowAsExpected: null }, subject: value }
    if (dice < 0.45)
      return { wish: { kind: 'delete', named, isRowAsExpected: null }, subject: `delete ${id}` }
    const upsert = { kind: 'upsert', columnIn, onMatch: 'change', isSheetAsExpected: null } as const
    if (dice < 0.75) {
      const isNew = random() < 0.4
      const rows: RowInput[] = [
        [
          ['id', token],
          ['value', 'x'],
        ],
        [
          ['id', id],
          ['value', value],
        ],
      ]
      return {
        wish: { ...upsert, rows: isNew ? rows : rows.slice(1) },
        subject: value,
        subjects: isNew ? [token, value] : [value],
      }
    }
    const filter = (operator: 'starts' | 'in', values: string[]) => ({
      maxRows: 100,
      queryOn: () => ({ filters: [{ column: 0, operator, values }], search: null }),
    })
    if (dice < 0.9) {
      const choice = filter('starts', ['start'])
      const many: RowInput = [['value', `start>${token}`]]
      return {
        wish: { kind: 'update_many', choice, row: many, isSheetAsExpected: null },
        subject: `many ${token}`,
      }
    }
    const several = ids.filter(() => random() < 0.3).slice(0, 3)
    const choice = filter('in', several.length > 0 ? several : ['nobody'])
    return {
      wish: { kind: 'delete_many', choice, isSheetAsExpected: null },
      subject: '',
      subjects: several.map((one) => `delete ${one}`),
    }
  }
}

interface Server {
  life: { isOver: boolean; onEnd: (() => void)[] }
  writing: Writing
  instance: number
  accepted: number
}

function startRows(): Cell[][] {
  return Array.from({ length: 5 }, (_, n) => [`start ${n}`, 'x'])
}

/** Some days are worse than others. */
function facing(random: () => number): Faults {
  const isBad = random() < 0.7
  const rate = (worst: number) => (isBad ? random() * worst : 0)
  return {
    lost: rate(0.3),
    late: rate(0.2),
    never: rate(0.1),
    failing: rate(0.1),
    away: rate(0.2),
    isConditional: random() < 0.5,
    isExact: random() < 0.5,
    hasHeader: random() < 0.5,
  }
}

/** The same object for a process that can die: from then on no call begins, and none comes back. */
function mortal<T extends object>(of: T, life: { isOver: boolean }): T {
  const never = new Promise<never>(() => {})
  return new Proxy(of, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if (life.isOver) return never
        const outcome = (value as (...args: unknown[]) => unknown).apply(target, args)
        if (!(outcome instanceof Promise)) return outcome
        return outcome.then(
          (result) => (life.isOver ? never : isPrepared(result) ? mortal(result, life) : result),
          (error) => (life.isOver ? never : Promise.reject(error)),
        )
      }
    },
  })
}

function isPrepared(result: unknown): result is object {
  return typeof result === 'object' && result !== null && 'commit' in result
}

export const maxAnswerMs = patienceMs
