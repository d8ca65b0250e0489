import type { Clock } from '../../clock.ts'
import { Refusal, StoreFailure, TooManyAtOnce } from '../../errors.ts'
import type { Observe } from '../../reporting/observe.ts'
import type { LoopTurns } from '../../shares/loop-turns.ts'
import { defaultShares, type Shares } from '../../shares/shares.ts'
import { createPlaces, createTurnstile } from '../../shares/turnstile.ts'
import type { SheetFacts } from '../../store/admission/admission-facts.ts'
import { newOperationId } from '../../store/new-id.ts'
import type { SheetRecord } from '../../store/sheets/sheets.ts'
import type { Store } from '../../store/store.ts'
import { idleTimers, type Timers } from '../../timers.ts'
import type { Provider } from '../provider.ts'
import { ProviderFailure } from '../provider-failure.ts'
import type { Reading } from '../reading/reading.ts'
import type { SheetLog } from '../sheet-log.ts'
import { createAccountWrites } from './account-writes.ts'
import { workOff } from './batch-work.ts'
import { batchLength } from './batching.ts'
import { createClaimsTogether } from './claims/claims-together.ts'
import { claimKey, findKeyed, type KeyClaim, type KeyedWrite, keepAnswersMs } from './claims/idempotency.ts'
import { createUnheardClaims } from './claims/unheard-claims.ts'
import { createLane, type Entered, type Lane, type LaneTurn, writeDeadlineMs } from './lane.ts'
import { createLaneLease, type LaneLease } from './lane-lease.ts'
import { takerOfOrder, type WriteAnswer, type WriteOrder } from './order.ts'
import { Closing, createPersistence } from './persistence.ts'
import type { QueuedWrite } from './queued-write.ts'
import { pickUpForgotten, settleOpen, takeOver } from './recovery.ts'

/** Writes to sheets: one lane for each spreadsheet, in the order of asking, each write journalled before it is sent. */
export interface Writing {
  /** Before anything else is done for a request with an idempotency key. */
  claim(asked: AskedClaim): Promise<KeyClaim>
  /** What a key stands for already, without claiming it: it costs one look, and nothing is promised. */
  keyed(asked: Pick<AskedClaim, 'accountId' | 'isForVisitors' | 'idempotencyKey'>): Promise<KeyedWrite | null>
  /** For a claimed request that is refused before it becomes an order: its key is free again. */
  releaseKey(claim: string): Promise<void>
  /** Resolves when the provider has it and the store knows; nothing that the client does can call it back. */
  write(order: WriteOrder): Promise<WriteAnswer | Refusal>
  /**
   * Does `work` in a turn of the spreadsheet's lane: no instance writes to it meanwhile, and the journal has nothing open there. 'busy' where
   * the turn does not come in the time that a write would have.
   */
  whileNobodyWrites<Done>(source: string, provider: string, work: () => Promise<Done>): Promise<Done | 'busy'>
  /** Ends what waits for a provider; what is open then, the next start settles. */
  close(): Promise<void>
}

export interface AskedClaim {
  accountId: string
  /** Then it is promised nothing that the account's keys may need the room for. */
  isForVisitors?: boolean
  sheet: Pick<SheetFacts, 'id'>
  idempotencyKey: string
  fingerprint: string
}

export interface WritingParts {
  store: Store
  providers: ReadonlyMap<string, Provider>
  reading: Reading
  clock: Clock
  observe: Observe
  timers?: Timers
  /** Where it is given, writes that come one right after the other go together. */
  nextLoopTurn?(): Promise<void>
  /** For what many rows take on the thread that answers everybody. */
  turns: LoopTurns
  /** Where it is kept what became of rows. */
  log: SheetLog
  /** What one account may keep of answers for idempotency keys. */
  maxKeptBytes: number
  shares?: Pick<Shares, 'editing_waiting'>
}

/**
 * Connections to PostgreSQL, of the ten that are not for look-ups, that what the journal is told may have; they go round the accounts. Whoever
 * finds none of the ten free is refused after two seconds (docs/decisions/055).
 */
const journalPlaces = 6
const journalPlacesOfAccount = 3
/**
 * Answers of many rows, of all accounts, that are unpacked, or made for nothing but to be told, and put together at a time. Each is in memory
 * several times for that, and more at a time would be no faster: it is done on the thread that serves everyone.
 */
const longAnswersTold = 2
/** Each request had a statement of its own for it. */
const mostKnownSources = 10_000
const tidyEveryMs = 60 * 60 * 1_000
/** Answers are kept for a day, and what is over takes room: also where a server never runs for an hour. */
const forgetEveryMs = 10 * 60 * 1_000
const forgetFirstMs = 10_000
/** How often we look whether another instance died and left something open; one alone looks after its former self. */
const lookAfterOthersMs = 1_000
/** A provider that does not answer must not keep the process from ending: its write is in the journal. */
const closeWithinMs = 5_000

/**
 * Any number of instances work on one store, also while one is replaced by the next on a single machine: each lane goes by a
 * lease, and whoever takes it settles what was left open there. Begins at once with what dead instances left.
 */
export function createWriting(parts: WritingParts): Writing {
  const { store, providers, clock, observe, turns, maxKeptBytes, timers = idleTimers } = parts
  const shares = parts.shares ?? defaultShares
  const accountWrites = createAccountWrites(shares, observe)
  const journalTurns = { places: createPlaces(journalPlaces), placesOfAccount: journalPlacesOfAccount }
  const claiming = createTurnstile({
    share: 'editing_waiting',
    ...{ ...journalTurns, waitingOfAccount: shares.editing_waiting },
    ...{ clock, observe },
  })
  const journalling = createTurnstile({
    share: 'editing_at_once',
    ...{ ...journalTurns, waitingOfAccount: Number.POSITIVE_INFINITY },
    ...{ clock, observe },
  })
  const unpacking = createTurnstile({
    share: 'journal_mb',
    ...{ places: longAnswersTold, placesOfAccount: 1, waitingOfAccount: 100 },
    areVisitorsBeside: true,
    ...{ clock, observe },
  })
  const together = createClaimsTogether(claiming)
  const lanes = new Map<string, Lane>()
  const sources = new Map<string, Pick<SheetRecord, 'source' | 'provider'>>()
  const persistence = createPersistence(timers)
  const rehearsing = createTurnstile({
    share: 'editing_waiting',
    ...{ places: longAnswersTold, placesOfAccount: 1, waitingOfAccount: Number.POSITIVE_INFINITY },
    ...{ clock, observe },
  })
  const batchParts = { ...parts, persistence, rehearsing }
  const unheardClaims = createUnheardClaims(store, persistence)
  const recovered = persistence.until(takeOverAll)
  // Whoever writes hears of it.
  recovered.catch(() => {})
  let cancelTidying = timers.after(tidyEveryMs, tidy)
  let isClosed = false
  let cancelForgetting = timers.after(forgetFirstMs, forget)
  let cancelLook = timers.after(lookAfterOthersMs, lookAfterOthers)

  return {
    async claim({ sheet, isForVisitors = false, ...asked }) {
      await recovered
      const { source } = await sourceOf(sheet.id)
      const id = newOperationId(clock.nowMs())
      try {
        return await claimKey(
          { store, maxKeptBytes, observe, turns, unpacking, claiming, together, clock, isForVisitors },
          { ...asked, id, sheetId: sheet.id, source },
        )
      } catch (error) {
        if (error instanceof TooManyAtOnce) return error.refusal
        // The store may have recorded it all the same: until it is given back, every repetition is told that it is being worked on.
        unheardClaims.freeUnheardKey(id)
        throw error
      }
    },
    keyed: ({ accountId, isForVisitors = false, idempotencyKey }) =>
      findKeyed({ store, claiming, isForVisitors }, accountId, idempotencyKey),
    releaseKey,
    async write(order) {
      await recovered
      const named = { ...order, operationId: order.claim ?? newOperationId(clock.nowMs()) }
      const entered = await enter(named).catch((error: unknown) => ({ error }))
      if ('answered' in entered) return entered.answered
      if (order.claim !== null) await releaseKey(order.claim)
      if (entered instanceof Refusal) return entered
      throw entered.error
    },
    async whileNobodyWrites<Done>(source: string, provider: string, work: () => Promise<Done>) {
      await recovered
      const { promise, resolve, reject } = Promise.withResolvers<Done | 'busy'>()
      let isTooLate = false
      const cancel = timers.after(writeDeadlineMs, () => {
        isTooLate = true
        resolve('busy')
      })
      laneOf(source, provider).hold(async () => {
        cancel()
        if (!isTooLate) await work().then(resolve, reject)
      }, reject)
      return promise.finally(cancel)
    },
    async close() {
      isClosed = true
      cancelTidying()
      cancelForgetting()
      cancelLook()
      persistence.close()
      const { promise: isLate, resolve } = Promise.withResolvers<void>()
      const cancel = timers.after(closeWithinMs, resolve)
      const idle = recovered
        .catch(() => {})
        .then(() => Promise.all([...lanes.values()].map((lane) => lane.idle())))
      await Promise.race([idle, isLate])
      cancel()
    },
  }

  async function enter(order: WriteOrder): Promise<Entered | Refusal> {
    const { source, provider } = sources.get(order.sheet.id) ?? (await sourceOf(order.sheet.id))
    const leave = accountWrites.enter(order)
    if (leave instanceof Refusal) return leave
    const entered = laneOf(source, provider).enter(order)
    if (entered instanceof Refusal) leave()
    else entered.answered.then(leave, leave)
    return entered
  }

  /** A sheet keeps both for as long as it is there; whether it still is, its lane looks before each batch. */
  async function sourceOf(sheetId: string): Promise<Pick<SheetRecord, 'source' | 'provider'>> {
    const known = sources.get(sheetId)
    if (known) return known
    const { source, provider } = await findConnectedSheet(sheetId)
    if (sources.size >= mostKnownSources) sources.clear()
    sources.set(sheetId, { source, provider })
    return { source, provider }
  }

  async function findConnectedSheet(sheetId: string): Promise<SheetRecord> {
    const record = await store.sheetById(sheetId)
    if (!record) throw new ProviderFailure('the sheet is no longer connected')
    return record
  }

  function laneOf(source: string, provider: string): Lane {
    const known = lanes.get(source)
    if (known) return known
    const { fetchHeader, fetchRows, untilTurn } = providers.get(provider) ?? {}
    const rules = { isHeaderEnough: fetchHeader !== undefined, areDeletionsTogether: fetchRows !== undefined }
    const lease = createLaneLease(source, { store, persistence, timers })
    const lane = createLane({
      timers,
      ...(parts.nextLoopTurn && { nextLoopTurn: parts.nextLoopTurn }),
      ...(untilTurn && {
        untilTurn: ({ sheet }) => findConnectedSheet(sheet.id).then(untilTurn, () => {}),
      }),
      batchLength: (orders) => batchLength(orders, rules),
      work: (batch) => workOff(batch, source, { ...batchParts, store: inTurn(batch, under(lease)) }),
      turn: turnOf(source, lease),
      free: async ({ claim }) => claim === null || releaseKey(claim),
      onIdle: () => void lanes.delete(source),
    })
    lanes.set(source, lane)
    return lane
  }

  function turnOf(source: string, lease: LaneLease): LaneTurn {
    return {
      async begin() {
        if (lease.current) return true
        try {
          await lease.acquireLease()
          await settleOpen(source, batchParts)
          return true
        } catch (error) {
          await lease.end()
          if (error instanceof Closing) return false
          throw error
        }
      },
      pass: lease.pass,
      end: lease.end,
    }
  }

  /** The journal takes nothing from an instance that has lost the lane, so nothing of it is sent. */
  function under(lease: LaneLease): Store {
    return {
      ...store,
      async beginSending(batch) {
        if (!lease.current) throw new StoreFailure('Another instance writes to this spreadsheet by now')
        return store.beginSending({ ...batch, lease: lease.current })
      },
    }
  }

  /** A batch of two hundred writes with keys is as many statements, twice. */
  function inTurn([first]: readonly QueuedWrite[], leased: Store): Store {
    const taker = first ? takerOfOrder(first.order) : ''
    return {
      ...leased,
      beginSending: (batch) => journalling.pass(taker, () => leased.beginSending(batch)),
      finishApplied: (...finished) => journalling.pass(taker, () => leased.finishApplied(...finished)),
    }
  }

  function takeOverAll(): Promise<void> {
    return takeOver(store, visitLane)
  }

  /** Whoever takes a lane settles what is open there, so it is enough to go there; where it is busy it is gone to anyway. */
  function visitLane(source: string, provider: string): void {
    if (!lanes.has(source)) laneOf(source, provider).hold(async () => {})
  }

  function lookAfterOthers(): void {
    cancelLook = timers.after(lookAfterOthersMs, lookAfterOthers)
    void takeOverAll().catch(() => {})
  }

  /** Where the store is away nobody is kept waiting for it; the key is free as soon as it is back. */
  function releaseKey(claim: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    void persistence
      .until(
        () => store.dropOperations([claim]),
        () => resolve(),
      )
      .catch(() => {})
      .then(resolve)
    return promise
  }

  /** What cannot be done now is done the next time. */
  function tidy(): void {
    cancelTidying = timers.after(tidyEveryMs, tidy)
    void pickUpForgotten(store, tidyEveryMs, visitLane).catch(() => {})
  }

  /** The next one begins when this one is done: it may take a while to catch up. */
  function forget(): void {
    void store
      .forgetOldOperations(keepAnswersMs)
      .catch(() => {})
      .then(() => {
        if (!isClosed) cancelForgetting = timers.after(forgetEveryMs, forget)
      })
  }
}
