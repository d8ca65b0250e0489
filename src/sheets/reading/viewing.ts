import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import type { Observe } from '../../reporting/observe.ts'
import { defaultShares, type Shares } from '../../shares/shares.ts'
import { accountOf, type Taker } from '../../shares/taker.ts'
import { type Soon, then } from '../../soon.ts'
import type { SheetFacts } from '../../store/admission/admission-facts.ts'
import type { ReadingTurn } from '../provider.ts'
import type { Querying } from '../rows/query/querying.ts'
import type { IndexedSnapshot, Snapshot } from '../rows/snapshot.ts'
import type { ViewOptions } from '../rows/view/decode-view.ts'
import type { RowsView, ViewedPart } from '../rows/view/rows-view.ts'
import { copyInTurns } from '../threads/copied-bytes.ts'
import { collectGarbageWhenCalm } from './collect-garbage.ts'
import type { Decoding } from './decoding.ts'
import { createHeldSnapshots, type HeldRows, nameOf } from './held-snapshots.ts'
import type { Reading, ReadingWish, ReadSheet } from './reading.ts'

/**
 * Sheets for those who may not see all of them. The view is an argument that nobody can leave out: whoever may read everything
 * says so.
 */
export interface Viewing {
  read(sheet: SheetFacts, view: RowsView | 'everything', wish: ViewingWish): Soon<ReadSheet | Refusal>
  /** Everything, which costs nothing beside the reading itself. */
  readAll(sheet: SheetFacts, wish: ReadingWish): Soon<ReadSheet>
  readAgain: Reading['readAgain']
}

export interface ViewingWish extends ReadingWish {
  /** In whose turn it is read, and a view made. */
  taker: Taker
}

export interface ViewingParts {
  reading: Pick<Reading, 'read' | 'readAgain'>
  decoding: Pick<Decoding, 'decode'>
  querying: Querying
  clock: Clock
  /** The views of all sheets may hold so much. */
  maxHeldBytes: number
  observe: Observe
  shares?: Pick<Shares, 'snapshot_percent'>
}

interface HeldView extends HeldRows {
  /** The content of the sheet that it was made of. */
  madeOf: string
  /** When these rows were first seen: not when the sheet was, of which a view tells nothing. */
  asOfMs: number
}

type Asked = Pick<ViewingWish, 'taker' | 'values'> & { name: string; view: RowsView }

/**
 * A view is made once for each state of its sheet, in a thread, by the way that a file takes: a list in, snapshot out. So it has an
 * ETag, totals, columns, indexes, descriptions and kept answers of its own.
 */
export function createViewing({
  reading,
  decoding,
  querying,
  clock,
  maxHeldBytes,
  observe,
  shares = defaultShares,
}: ViewingParts): Viewing {
  const held = createHeldSnapshots<HeldView>({
    maxBytes: maxHeldBytes,
    maxAccountBytes: (maxHeldBytes * shares.snapshot_percent) / 100,
    // What is reported is how many sheets are held; these are parts of them.
    observe(seen) {
      if (seen.event === 'share_used_up') observe(seen)
    },
    collectDropped: collectGarbageWhenCalm,
    // To look for it takes as long as for sheets, which may hold eight times as much.
    collectedFromBytes: 2 * maxHeldBytes,
  })
  const beingMade = new Map<string, { madeOf: string; made: Promise<HeldView | Refusal> }>()

  return {
    read(sheet, view, wish) {
      const whole = reading.read(sheet, wish)
      if (view === 'everything') return whole
      const { taker, values } = wish
      const name = `${nameOf(sheet.id, values)} ${view.name}`
      return then(whole, (read) => {
        const known = viewOf(read, { name, view, taker, values })
        return then(known, (viewed) => (viewed instanceof Refusal ? viewed : answer(read, viewed)))
      })
    },
    readAll: (sheet, wish) => reading.read(sheet, wish),
    readAgain: (sheet, taker) => reading.readAgain(sheet, taker),
  }

  function viewOf(read: ReadSheet, asked: Asked): Soon<HeldView | Refusal> {
    const { name } = asked
    const madeOf = read.snapshot.contentHash
    const known = held.get(name)
    if (known?.madeOf === madeOf) {
      known.lastUsedMs = clock.elapsedMs()
      return known
    }
    const flight = beingMade.get(name)
    if (flight?.madeOf === madeOf) return flight.made
    const made = make(read, asked).finally(() => {
      if (beingMade.get(name)?.made === made) beingMade.delete(name)
    })
    beingMade.set(name, { madeOf, made })
    return made
  }

  async function make(read: ReadSheet, asked: Asked): Promise<HeldView | Refusal> {
    const { name, view, taker, values } = asked
    const accountId = accountOf(taker)
    const { snapshot } = read
    const part = view.partOf(snapshot.columns, values)
    if (part instanceof Refusal) return part
    const room = held.expect(name, accountId, snapshot.listJson.byteLength)
    try {
      const made = await makePart(read, part, asked)
      const former = held.get(name)
      const isSame = former?.snapshot.contentHash === made.snapshot.contentHash
      const lastUsedMs = clock.elapsedMs()
      const madeOf = snapshot.contentHash
      // What was not in the view has changed: nothing of that is told, also not when.
      const fresh: HeldView =
        former && isSame
          ? { ...former, madeOf, lastUsedMs }
          : {
              ...made,
              ...{ madeOf, lastUsedMs, asOfMs: clock.nowMs(), bodies: held.newBodies() },
              origin: { place: { accountId } },
            }
      held.hold(name, fresh)
      return fresh
    } finally {
      room.end()
    }
  }

  async function makePart(
    { snapshot, indexed }: ReadSheet,
    { columns, filters }: ViewedPart,
    { taker, values }: Asked,
  ): Promise<{ snapshot: Snapshot; indexed: IndexedSnapshot }> {
    const query = { filters, search: null, sort: [], limit: null, offset: 0 }
    const isFiltered = filters.length > 0
    const positions = isFiltered ? (await querying.run(taker, await indexed, query)).positions : 'all'
    const keys = columns.map((at) => snapshot.columns[at]?.key ?? '')
    const { listJson, rowStarts, rowNumbers } = snapshot
    const stale = snapshot.stale.filter(({ key }) => keys.includes(key))
    const options: ViewOptions = { rowStarts, rowNumbers, positions, keys, stale }
    const decoder = { ...viewDecoder, options }
    const fetch = async (turn: ReadingTurn) => {
      await turn.begin(listJson.byteLength)
      // Not in turns of the account: this holds the thread, and all that the account asks for would keep it from everybody.
      const bytes = await copyInTurns(listJson, () => new Promise(setImmediate))
      return { bytes, version: '', decoder }
    }
    const decoded = await decoding.decode(taker, fetch, { values })
    const made = await decoded.indexed
    const whole: IndexedSnapshot = isFiltered ? { ...made, leavesRowsOut: true } : made
    return { snapshot: whole, indexed: whole }
  }
}

const viewDecoder = {
  module: new URL('../rows/view/decode-view.ts', import.meta.url).href,
  name: 'decodeView',
}

function answer(
  { ageSeconds, source }: ReadSheet,
  { snapshot, indexed, asOfMs, bodies }: HeldView,
): ReadSheet {
  // The log of the sheet tells of all columns.
  return { snapshot, indexed, asOfMs, ageSeconds, source, isPart: true, bodies, logged: null, promised: null }
}
