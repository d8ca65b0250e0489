import assert from 'node:assert/strict'
import { changeJson } from '../../../src/changes/change-json.ts'
import { createChangeLog } from '../../../src/changes/change-log.ts'
import { cursorText } from '../../../src/changes/cursor.ts'
import { Refusal } from '../../../src/errors.ts'
import { createLoopTurns } from '../../../src/shares/loop-turns.ts'
import { defaultShares } from '../../../src/shares/shares.ts'
import { readChanges } from '../../../src/sheets/logged-change.ts'
import type { Fetched } from '../../../src/sheets/provider.ts'
import type { Decoding } from '../../../src/sheets/reading/decoding.ts'
import { createReading, type Reading } from '../../../src/sheets/reading/reading.ts'
import { buildSnapshot } from '../../../src/sheets/rows/build-snapshot.ts'
import type { Cell } from '../../../src/sheets/rows/grid.ts'
import type { RowInput } from '../../../src/sheets/rows/row-input.ts'
import type { Snapshot } from '../../../src/sheets/rows/snapshot.ts'
import type { Logged } from '../../../src/sheets/sheet-log.ts'
import { noTurn } from '../../../src/sheets/threads/no-turn.ts'
import type { Wish } from '../../../src/sheets/writing/order.ts'
import { createWriting, type Writing } from '../../../src/sheets/writing/writing.ts'
import { createSqlStore } from '../../../src/store/sql/sql-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { createFaultyProvider, type Faults } from '../../writing/simulation/faulty-provider.ts'
import { liveOn } from '../../writing/simulation/schedule.ts'
import { createRandom } from '../../writing/simulation/virtual-time.ts'
import { type Change, Follower, type List } from '../follower.ts'
import type { SimulatedStore } from './simulated-store.ts'

const maxKeptBytes = defaultShares.journal_mb * 1024 * 1024
/** While something is worked out: in these histories only calls take time. */
const noTimePasses = { elapsedMs: () => 0 }

export interface HistoryWishes {
  clients: number
  writesEach: number
  readers: number
  readsEach: number
  /** What people do in the spreadsheet. */
  edits: number
  instances: number
  /** At random moments. */
  crashes: number
  isKeyed: boolean
  /** Kills the instance that makes this call to store or provider, the how manyth of all; `after`: when it was done. */
  killAt?: { call: number; isDone: boolean }
  faults?: Partial<Faults>
}

export interface History {
  /** Calls to store and provider by all instances, while somebody waits for an answer. */
  calls: number
  crashes: number
  changes: Change[]
  /** What took effect at the provider, each as the log should name it. */
  applied: string[]
  /** Lists that were shown while all this happened, and those of them without a cursor. */
  lists: number
  listsWithout: number
  /** Changes of clients that the log tells as somebody else's. */
  untold: string[]
  /** Writes that took effect and that no change in the log names. */
  unnamed: string[]
  /** What only clients do, told as somebody else's; known where rows are told by key. */
  asOutside: Change[]
  faults: Faults
}

interface Seen {
  logged: Logged
  list: List
}

interface Server {
  life: { isOver: boolean; onEnd: (() => void)[] }
  reading: Reading
  writing: Writing
  store: Store
}

const horizonMs = 60 * 60_000

/**
 * One random history of clients, people, faults and kills on production's reading, writing, log and SQL, in virtual time. Throws where
 * the log does not lead from the first rows to all that were shown since, and to the last.
 */
export async function playHistory(
  { database, time, newSheet }: SimulatedStore,
  seed: number,
  wishes: HistoryWishes,
): Promise<History> {
  const random = createRandom(seed)
  const below = (end: number) => Math.floor(random() * end)
  const faults = { ...facing(random), ...wishes.faults }
  const { isKeyed } = wishes
  const first: Cell[][] = [
    ['id', 'name', 'n'],
    ...Array.from({ length: 6 }, (_, n): Cell[] => [`r${n}`, `name ${n % 2}`, n]),
  ]
  const provider = createFaultyProvider(first, time, random, faults)
  const { sheet } = await newSheet(isKeyed ? 'id' : null)
  const failures: unknown[] = []
  /** The writes of each batch, by its fence: those that are to be told. */
  const sentWith = new Map<string, readonly string[]>()
  const seen: Seen[] = []
  let [calls, crashed, made, lists, listsWithout] = [0, 0, 0, 0, 0]
  const servers = Array.from({ length: wishes.instances }, () => start())
  let isDone = false
  let isBegun = false
  const begin = await firstList()
  isBegun = true
  const working = [
    ...Array.from({ length: wishes.clients }, () => client()),
    ...Array.from({ length: wishes.readers }, () => reader()),
  ]
  void Promise.all(working).then(() => {
    isDone = true
  })
  for (let n = 0; n < wishes.crashes; n++) time.after(random() * 15_000, () => crash(anyServer()))
  for (let n = 0; n < wishes.edits; n++) time.after(random() * 8_000, personEdit)
  const endMs = time.nowMs() + horizonMs
  await time.run(() => isDone || time.nowMs() > endMs)
  assert.ok(isDone, 'someone was never answered')
  await untilSettled()
  const last = await settledList()
  for (const server of servers) server.life.isOver = true
  assert.deepEqual(failures, [])

  const changes = await allChanges(begin)
  const follower = new Follower(begin.list, isKeyed)
  const bySeq = Map.groupBy([...seen, last], ({ logged }) => logged.seq)
  check(begin.logged.seq)
  for (const [nth, change] of changes.entries()) {
    const seq = begin.logged.seq + nth + 1
    assert.equal(change.cursor, cursorText({ epoch: begin.logged.epoch, seq }), 'no gap, no double')
    follower.apply(change)
    check(seq)
  }
  assert.equal(last.logged.seq, begin.logged.seq + changes.length, 'the last rows are those of the head')
  assertShownAsThereIs(last.list)
  const applied = provider.sheet.log.flatMap(({ change, before, result }) => {
    if (change.kind === 'add') return change.rows.map((row) => `+ ${inAnyOrder(row)}`)
    if (result.kind === 'delete') return [`- ${inAnyOrder(result.row)}`]
    if (result.kind !== 'update' || text(before) === text(result.row)) return []
    return [`+ ${inAnyOrder(result.row)}`]
  })
  const unnamed = unnamedWrites()
  const told = { untold: untold(), unnamed, asOutside: asOutside() }
  return { calls, crashes: crashed, changes, applied, lists, listsWithout, faults, ...told }

  /** But for those that made no difference, and those into a row that somebody put there and took away again before anyone looked. */
  function unnamedWrites(): string[] {
    const named = new Set(changes.map(({ operation }) => operation))
    const idsSeen = new Set<unknown>([
      ...first.map(([id]) => id),
      ...changes.flatMap(({ before, after }) => [before?.id, after?.id]),
    ])
    const inEffect = provider.sheet.log.filter(({ change, before, result }) => {
      if (change.kind === 'add') return true
      if (before[0] === undefined || !idsSeen.has(before[0])) return false
      return result.kind !== 'update' || text(before) !== text(result.row)
    })
    const fences = new Set(inEffect.map(({ fence }) => fence))
    return [...fences].flatMap((fence) => (sentWith.get(fence) ?? []).filter((name) => !named.has(name)))
  }

  /** People change names, and add rows of their own. */
  function asOutside(): Change[] {
    if (!isKeyed) return []
    return changes.filter(({ source, kind, after, changed = [] }) => {
      if (source !== 'outside') return false
      return kind === 'updated' ? changed.includes('n') : kind === 'added' && /^c/.test(String(after.id))
    })
  }

  function check(seq: number): void {
    for (const { logged, list } of bySeq.get(seq) ?? []) {
      assert.equal(logged.epoch, begin.logged.epoch)
      follower.assertEquals(list, `rows of the cursor ${seq}`)
    }
  }

  /** Each that took effect and that no change of a client's tells. */
  function untold(): string[] {
    const told = changes.filter(({ source }) => source === 'api')
    const names = told.map(({ kind, before, after }) =>
      kind === 'deleted' ? `- ${inAnyOrder(Object.values(before))}` : `+ ${inAnyOrder(Object.values(after))}`,
    )
    const left = [...applied]
    for (const name of names) {
      const at = left.indexOf(name)
      if (at === -1) left.push(`not done: ${name}`)
      else left.splice(at, 1)
    }
    return left
  }

  /** Somebody may move columns before it is told. */
  function inAnyOrder(row: readonly unknown[]): string {
    return row
      .map((cell) => JSON.stringify(cell ?? null))
      .filter((cell) => cell !== 'null')
      .sort()
      .join(' ')
  }

  function text(row: readonly (Cell | undefined)[]): string {
    return JSON.stringify(first[0]?.map((_, at) => row[at] ?? null))
  }

  function assertShownAsThereIs({ rows }: List): void {
    const shown = rows.map(({ _row, ...row }) => JSON.stringify(Object.values(row)))
    const there = provider.sheet.rows.slice(1).map(text)
    const isBlank = (json: string) => /^\[(null,?)+\]$/.test(json)
    assert.deepEqual(
      shown,
      there.filter((json) => !isBlank(json)),
    )
  }

  async function allChanges({ logged }: Seen): Promise<Change[]> {
    const store = createSqlStore(database, time)
    const chunks = await store.loggedChanges(sheet.id, logged.seq, Number.POSITIVE_INFINITY)
    return chunks.flatMap(({ firstSeq, atMs, entries }) =>
      readChanges(entries as string)
        .map((change, nth) => ({ seq: firstSeq + nth, change }))
        .filter(({ seq }) => seq > logged.seq)
        .map(
          ({ seq, change }) =>
            JSON.parse(changeJson({ cursor: cursorText({ ...logged, seq }), atMs, change })) as Change,
        ),
    )
  }

  /** What is late comes within two minutes, and what is open then is settled. */
  async function untilSettled(): Promise<void> {
    const store = createSqlStore(database, time)
    do await driven(time.delay(5_000))
    while (provider.pending > 0 || (await store.sendingOperations(sheet.source)).length > 0)
  }

  async function firstList(): Promise<Seen> {
    for (;;) {
      const found = await driven(list(anyServer(), true))
      if (found && found !== 'without') return found
      // A failure stands for a moment.
      await driven(time.delay(1_000))
    }
  }

  async function settledList(): Promise<Seen> {
    const fresh = start()
    servers.push(fresh)
    for (let tries = 0; tries < 100; tries++) {
      const found = await driven(list(fresh, true))
      if (found && found !== 'without') return found
      await driven(time.delay(1_000))
    }
    return assert.fail('no list has a cursor in the end')
  }

  /** Lets time pass until it is there. */
  async function driven<T>(work: Promise<T>): Promise<T> {
    let isOver = false
    void work.finally(() => {
      isOver = true
    })
    await time.run(() => isOver)
    return work
  }

  async function reader(): Promise<void> {
    for (let n = 0; n < wishes.readsEach; n++) {
      await time.delay(random() * 600)
      const found = await list(anyServer(), random() < 0.4)
      if (found === null) continue
      lists++
      if (found === 'without') listsWithout++
      else seen.push(found)
    }
  }

  /** null where it failed. */
  async function list(
    { reading, store, life }: Server,
    mustAskProvider: boolean,
  ): Promise<Seen | 'without' | null> {
    const died = new Promise<null>((resolve) => life.onEnd.push(() => resolve(null)))
    const read = async () => {
      try {
        const record = await store.sheetById(sheet.id)
        assert.ok(record)
        const wish = { values: 'typed', mustAskProvider } as const
        const { snapshot, logged } = await reading.read({ ...record, needsReconnect: false }, wish)
        const place = await logged
        return place ? { logged: place, list: listOf(snapshot, cursorText(place)) } : ('without' as const)
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error
        return null
      }
    }
    return Promise.race([died, read()])
  }

  async function client(): Promise<void> {
    for (let n = 0; n < wishes.writesEach; n++) {
      await time.delay(random() * 900)
      const wish = anyWish()
      const key = random() < 0.8 ? `key ${seed}.${++made}` : null
      for (let tries = 0; tries < 200; tries++) {
        const heard = await ask(wish, key)
        if (heard !== 'again' || key === null) break
        await time.delay(500 + random() * 1_500)
      }
    }
  }

  async function ask(wish: Wish, key: string | null): Promise<'over' | 'again'> {
    const { life, writing } = anyServer()
    const died = new Promise<'again'>((resolve) => life.onEnd.push(() => resolve('again')))
    const request = async () => {
      try {
        let claim: string | null = null
        if (key !== null) {
          const asked = { accountId: sheet.accountId, sheet, idempotencyKey: key, fingerprint: key }
          const claimed = await writing.claim(asked)
          if (claimed instanceof Refusal) return claimed.status >= 500 || claimed.status === 409
          if ('replay' in claimed) return false
          claim = claimed.claimed
        }
        const who = { sheet, accountId: sheet.accountId, claim, by: 'key_1' }
        const heard = await writing.write({ ...who, wish, bytes: 100, stillAdmitted: async () => null })
        return heard instanceof Refusal && heard.status >= 500
      } catch {
        return true
      }
    }
    return Promise.race([
      died,
      request().then((isAgain) => (isAgain ? ('again' as const) : ('over' as const))),
    ])
  }

  function anyWish(): Wish {
    const ids = provider.sheet.rows.slice(1).map(([id]) => String(id))
    const id = ids[below(ids.length)] ?? 'nobody'
    const rowNumber = 2 + below(ids.length + 1)
    const row: RowInput = [['n', below(50)]]
    const columnIn = () => 0
    const newRow = (): RowInput => [
      ['id', `c${++made}`],
      ['name', `name ${below(3)}`],
    ]
    const choice = (operator: 'starts' | 'in', values: string[]) => ({
      maxRows: 100,
      queryOn: () => ({ filters: [{ column: 0, operator, values }], search: null }),
    })
    switch (below(10)) {
      case 0:
      case 1:
      case 2:
        return { kind: 'add', rows: Array.from({ length: 1 + below(2) }, newRow) }
      case 3:
      case 4:
        return { kind: 'update', rowNumber, row, isRowAsExpected: null }
      case 5:
        return { kind: 'delete', rowNumber, isRowAsExpected: null }
      case 6:
        return { kind: 'update', named: { columnIn, value: id }, row, isRowAsExpected: null }
      case 7:
        return {
          kind: 'upsert',
          columnIn,
          onMatch: 'change',
          isSheetAsExpected: null,
          rows: [newRow(), [['id', id], ...row]],
        }
      case 8:
        return { kind: 'update_many', choice: choice('starts', ['r']), row, isSheetAsExpected: null }
      default:
        return {
          kind: 'delete_many',
          choice: choice('in', [id, ids[below(ids.length)] ?? 'nobody']),
          isSheetAsExpected: null,
        }
    }
  }

  function personEdit(): void {
    const { sheet: far } = provider
    const [header = [], ...rows] = far.rows
    const at = below(rows.length)
    const row = rows[at]
    switch (below(7)) {
      case 0:
        rows.splice(at, 0, [`p${++made}`, 'x', 1])
        break
      case 1:
        rows.sort(() => random() - 0.5)
        break
      case 2:
        rows.splice(at, 1)
        break
      case 3:
        rows.push([`p${++made}`, 'y', 2])
        break
      case 4:
        for (const each of [header, ...rows]) each.splice(1, 2, each[2] ?? null, each[1] ?? null)
        break
      default:
        if (row) row[header.indexOf('name')] = `person ${++made}`
    }
    far.rows.splice(0, far.rows.length, header, ...rows)
    far.version++
  }

  function anyServer(): Server {
    return servers[below(wishes.instances)] as Server
  }

  function start(): Server {
    const life: Server['life'] = { isOver: false, onEnd: [] }
    const ours = createSqlStore(database, time)
    void liveOn(ours, time, () => life.isOver)
    const server: Server = { life, reading: null as never, writing: null as never, store: null as never }
    const store = mortal(ours, server)
    const providers = new Map([['faulty', mortal(provider, server)]])
    const observe = (seen: { event: string }) => {
      if (seen.event === 'changes_not_logged') failures.push(seen)
    }
    const timers = {
      after: (delayMs: number, work: () => void) => time.after(delayMs, () => life.isOver || work()),
    }
    const log = createChangeLog({
      turns: { next: () => undefined },
      ...{ store, decoding, clock: time, observe },
      following: { noteChange() {} },
      retention: { noteBytes() {} },
      timers,
    })
    const parts = { store, providers, clock: time, observe, log }
    const reading = createReading({ ...parts, decoding, maxHeldBytes: 1e6, timers })
    const writing = createWriting({
      ...{ ...parts, reading, timers, maxKeptBytes },
      turns: createLoopTurns(noTimePasses),
    })
    return Object.assign(server, { reading, store, writing })
  }

  function crash(server: Server): void {
    if (isDone || server.life.isOver) return
    crashed++
    server.life.isOver = true
    servers[servers.indexOf(server)] = start()
    for (const tell of server.life.onEnd) tell()
  }

  function noteSent({ fence, changes }: Parameters<Store['beginSending']>[0]): void {
    if (changes)
      sentWith.set(
        fence,
        changes.chunks.flatMap(({ operations = [] }) => operations),
      )
  }

  /** The same object for a process that can die: from then on no call begins, and none comes back. */
  function mortal<T extends object>(of: T, server: Server): T {
    const { life } = server
    const never = new Promise<never>(() => {})
    return new Proxy(of, {
      get(target, name) {
        const value = Reflect.get(target, name) as unknown
        if (typeof value !== 'function' || name === 'isTight') return value
        return (...args: unknown[]) => {
          if (life.isOver) return never
          if (isBegun && !isDone) calls++
          const isLast = isBegun && !isDone && calls === wishes.killAt?.call
          if (isLast && wishes.killAt?.isDone === false) {
            crash(server)
            return never
          }
          if (name === 'beginSending') noteSent(args[0] as Parameters<Store['beginSending']>[0])
          const outcome = (value as (...args: unknown[]) => unknown).apply(target, args)
          if (!(outcome instanceof Promise)) return outcome
          return outcome.then(
            (result) => {
              if (isLast) crash(server)
              return life.isOver ? never : isPrepared(result) ? mortal(result, server) : result
            },
            (error) => (life.isOver ? never : Promise.reject(error)),
          )
        }
      },
    })
  }
}

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

function listOf({ columns, listJson, rowNumbers }: Snapshot, cursor: string): List {
  const rows = JSON.parse(Buffer.from(listJson).toString()) as Record<string, unknown>[]
  return {
    cursor,
    columns: columns.map(({ key }) => key),
    rows: rows.map((row, at) => ({ _row: rowNumbers[at], ...row })),
  }
}

/** Some days are worse than others. */
function facing(random: () => number): Faults {
  const isBad = random() < 0.7
  const rate = (worst: number) => (isBad ? random() * worst : 0)
  const isConditional = random() < 0.5
  const isExact = isConditional || random() < 0.3
  return {
    lost: rate(0.3),
    late: rate(0.2),
    never: rate(0.1),
    failing: rate(0.1),
    away: rate(0.15),
    isConditional,
    isExact,
    hasHeader: !isConditional,
    hasRows: !isConditional,
    tellsTab: !isConditional && random() < 0.5,
    tellsRaces: !isExact,
  }
}

function isPrepared(result: unknown): result is object {
  return typeof result === 'object' && result !== null && 'commit' in result
}
