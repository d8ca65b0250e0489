import { setImmediate as othersTurn } from 'node:timers/promises'
import type { Observe } from '../../../reporting/observe.ts'
import type { Change, ChangeResult } from '../../../sheets/change.ts'
import type { Committed, TabPlace, WrittenTab } from '../../../sheets/provider.ts'
import { OutcomeUnknown } from '../../../sheets/provider-failure.ts'
import { areSameColumns, type Column } from '../../../sheets/rows/table.ts'
import { fieldsOf } from '../../remote/json-fields.ts'
import type { GoogleCall, GoogleCalls } from '../client/google-call.ts'
import type { GoogleEndpoints } from '../client/google-endpoints.ts'
import { RefusedByGoogle } from '../client/google-errors.ts'
import { parseGoogleLocation } from '../google-location.ts'
import type { GoogleLooking } from '../read/google-looking.ts'
import { parseGridAnswer } from '../read/grid-answer.ts'
import { writtenVersion } from '../read/grid-bounds.ts'
import type { RowRange } from '../read/row-ranges.ts'
import type { TabHeads } from '../read/tab-heads.ts'
import type { TabMemory } from '../read/tab-memory.ts'
import {
  gridOf,
  onlyRowsOf,
  readRowsInTurns,
  readTabView,
  type SeenCell,
  type TabView,
  tabViewFields,
  valuesOf,
} from '../read/tab-view.ts'
import { type Standing, standingAt } from './added-rows.ts'
import { foretold, resultsSeenAfter, withLost } from './change-results.ts'
import { type ComposedBatch, composeBatch, rangesTouchedBefore } from './compose-batch.ts'
import { acknowledges, notUnderstood } from './google-settling.ts'
import { areColumnsAsJudged, columnsOfHeader } from './judged-columns.ts'
import type { Marker } from './marker.ts'
import type { MarkerCleaning } from './marker-cleaning.ts'
import { findRaces, isStillAsRead } from './race-check.ts'
import { type RowLooks, trustLookMs } from './row-looks.ts'
import type { RowTurns } from './row-turns.ts'

export interface CommitParts {
  calls: GoogleCalls
  endpoints: GoogleEndpoints
  looking: GoogleLooking
  heads: TabHeads
  memory: TabMemory
  looks: RowLooks
  cleaning: MarkerCleaning
  observe: Observe
}

/** One batch on its way. */
export interface BatchAttempt {
  place: TabPlace
  changes: readonly Change[]
  turns: RowTurns
  /** Those that the changes were judged on; null where nobody says. */
  columns: readonly Column[] | null
  /** The look that they were judged on. */
  version: string
  marker: Marker
  isTabWanted: boolean
}

/** What the batch was made from, and what it was. */
interface SentBatch extends ComposedBatch {
  /** As it was seen last. */
  header: readonly SeenCell[]
  view: TabView | null
  oldMarkers: readonly number[]
}

const answerFields = `spreadsheetId,replies(createDeveloperMetadata(developerMetadata(metadataId))),updatedSpreadsheet(${tabViewFields})`

/** The tab is not what the changes were judged on. */
class Outdated extends Error {}

/** Sends a batch, exactly once, and reads from its own answer what has become of the rows. */
export async function commitBatch(attempt: BatchAttempt, parts: CommitParts): Promise<Committed> {
  const { place, marker } = attempt
  const { calls, endpoints, memory, cleaning } = parts
  const { spreadsheetId } = parseGoogleLocation(place.location)
  let sent: SentBatch | null = null
  try {
    const call: GoogleCall = {
      credentialId: place.credentialId,
      accountId: place.accountId,
      service: 'sheets',
      method: 'POST',
      url: `${endpoints.sheets}/${encodeURIComponent(spreadsheetId)}:batchUpdate?prettyPrint=false&fields=${answerFields}`,
      async compose() {
        sent = null
        const composed = await compose(attempt, parts)
        sent = composed
        return composed.body
      },
    }
    const answer = await calls.callWrite(call, parseGridAnswer)
    cleaning.noteNew(spreadsheetId, marker)
    return await commitApplied(attempt, answer, sent, parts).catch((error: unknown) => {
      // Google has done it: whatever fails from here on must not look as if nothing had happened.
      throw error instanceof OutcomeUnknown ? error : notUnderstood(error)
    })
  } catch (error) {
    memory.forget(place)
    if (error instanceof Outdated) return { outcome: 'conflict' }
    if (!(error instanceof RefusedByGoogle)) throw error
    return commitRefused(attempt, error, sent, parts)
  }
}

/**
 * From the look that the changes were judged on; where that is not of this very moment, from another, as late as can
 * be, that is held against it.
 */
async function compose(attempt: BatchAttempt, parts: CommitParts): Promise<SentBatch> {
  const { place, changes, turns, columns, version, marker, isTabWanted } = attempt
  const { spreadsheetId, tabId } = parseGoogleLocation(place.location)
  const isAdding = changes.some(({ kind }) => kind === 'add')
  const touched = rangesTouchedBefore(changes, turns)
  const ranges = [{ from: 1, to: 1 }, ...touched]
  const view =
    touched.length === 0
      ? null
      : (parts.looks.find(place, version, ranges) ?? (await lookAgain(place, ranges, isAdding, parts)))
  if (view === 'outside' || (view && !isAsJudged(changes, turns, view))) throw new Outdated()
  await othersTurn()
  const head = isAdding ? await parts.heads.headOf(place, trustLookMs) : null
  const header = view?.row(1) ?? head?.header ?? []
  if (columns && !areColumnsAsJudged(changes, columns, columnsOfHeader(header))) throw new Outdated()
  const oldMarkers = parts.cleaning.due(spreadsheetId)
  return {
    ...composeBatch({ tabId, changes, turns, head, view, marker, oldMarkers, isTabWanted }),
    header,
    view,
    oldMarkers,
  }
}

/** At the end of the tab as well, where rows go there: that is no call more. */
async function lookAgain(
  place: TabPlace,
  ranges: readonly RowRange[],
  isAdding: boolean,
  { looking, heads }: CommitParts,
): Promise<TabView | 'outside'> {
  const end = isAdding ? heads.whereToLook(place) : null
  const view = await looking.readTabRanges(place, end ? [...ranges, end] : ranges)
  if (view === 'outside' || !end) return view
  heads.keepIfSeen(place, view, end)
  return onlyRowsOf(view, ranges)
}

function isAsJudged(changes: readonly Change[], turns: RowTurns, view: TabView): boolean {
  return changes.every((change, changeAt) => {
    const row = turns.before(changeAt)
    if (change.kind === 'add' || change.kind === 'insert' || row === null) return true
    return row <= view.rowCount && isStillAsRead(change.before ?? [], view.row(row))
  })
}

async function commitApplied(
  attempt: BatchAttempt,
  answer: unknown,
  sent: SentBatch | null,
  parts: CommitParts,
): Promise<Committed> {
  const { place, changes, turns, columns, marker, isTabWanted } = attempt
  const { spreadsheetId, tabId } = parseGoogleLocation(place.location)
  if (!sent || !acknowledges(answer, marker)) throw notUnderstood()
  parts.cleaning.gone(spreadsheetId, sent.oldMarkers)
  const seen = readTabView(fieldsOf(answer).updatedSpreadsheet, tabId)
  // Without a view of the moment at which it was applied, nobody can say what became of it: it is looked up.
  if (!seen) throw notUnderstood()
  await readRowsInTurns(seen, sent.shown)
  const after = onlyRowsOf(seen, sent.shown)
  const at = sent.added ? await standingAt(place, sent.added, after, parts.looking) : null
  // Each of these goes through all cells of all rows that were touched.
  await othersTurn()
  const told = foretold(changes, turns, (row) => valuesOf(sent.view?.row(row) ?? []), at?.first ?? null)
  const seenNow = resultsSeenAfter(told, changes, turns, (row) => {
    if (at && row >= at.first) return sent.added?.isOnlyEnd ? null : valuesOf(at.view.row(row))
    return valuesOf(after.row(row))
  })
  await othersTurn()
  const results = withLost(seenNow, changes, turns, (row) => sent.view?.row(row) ?? [])
  if (turns.insertions > 0) parts.memory.forget(place)
  else if (!sent.added) parts.memory.moveUp(place, turns.deletions)
  else if (at) parts.memory.keep(place, withHeader(at.view, after), at.first + sent.added.rows.length - 1)
  else parts.memory.forget(place)
  await othersTurn()
  const columnsNow = columnsOfHeader(after.row(1))
  return {
    outcome: 'applied',
    ...tellRaces(attempt, sent, { after, at }, results, parts),
    ...(columns && !areSameColumns(columns, columnsNow) ? { columns: columnsNow } : {}),
    ...(isTabWanted ? writtenTab(seen, sent) : {}),
  }
}

/** Where people added rows in that instant, the view may end too soon: then it is none of the whole tab. */
function writtenTab(seen: TabView, { lastShown }: SentBatch): { tab?: WrittenTab } {
  if (seen.rowCount > lastShown) return {}
  const version = writtenVersion({ rows: seen.rowCount, columns: seen.columnCount })
  return { tab: { version, grid: gridOf(seen) } }
}

function withHeader(view: TabView, after: TabView): TabView {
  return { ...view, row: (rowNumber) => (rowNumber === 1 ? after : view).row(rowNumber) }
}

function tellRaces(
  { changes, turns }: BatchAttempt,
  { header, view, added }: SentBatch,
  { after, at }: { after: TabView; at: Standing | null },
  results: readonly ChangeResult[],
  { observe }: CommitParts,
): { results: ChangeResult[]; racedAt: number[] } {
  const told: ChangeResult[] = [...results]
  const racedAt: number[] = []
  const [before, now] = [header, after.row(1)].map(columnsOfHeader)
  const additions = changes.filter(({ kind }) => kind === 'add')
  if (!areColumnsAsJudged(additions, before ?? [], now ?? [])) {
    observe({ event: 'write_raced', provider: 'google', kind: 'add' })
  }
  // A later look tells where they are, but not that nobody came between.
  const shown = at?.view === after ? at.first : null
  const ours = added && { rows: added.rows, expected: added.first, shown }
  for (const { kind, changeAt, deleted } of view ? findRaces(changes, turns, view, after, ours) : []) {
    observe({ event: 'write_raced', provider: 'google', kind })
    racedAt.push(changeAt)
    if (deleted) told[changeAt] = { kind: 'delete', row: deleted }
  }
  return { results: told, racedAt }
}

/**
 * Google says no to the whole batch. Its words do not tell whether that is because the marker exists, so the marker
 * itself is looked up.
 */
async function commitRefused(
  { place, marker }: BatchAttempt,
  refusal: RefusedByGoogle,
  sent: SentBatch | null,
  { looking, cleaning }: CommitParts,
): Promise<Committed> {
  // It was a look before sending that was refused.
  if (!sent) throw refusal
  const found = await looking.findMarker(place, marker).catch((error: unknown) => {
    throw notUnderstood(error)
  })
  if (found === 'done') throw notUnderstood(refusal)
  if (found === 'void' || found === 'foreign' || refusal.isAboutGrid) return { outcome: 'conflict' }
  if (sent.oldMarkers.length > 0) {
    // It may be the cleaning that Google does not like: once more without.
    const { spreadsheetId } = parseGoogleLocation(place.location)
    cleaning.gone(spreadsheetId, sent.oldMarkers)
    return { outcome: 'conflict' }
  }
  const { message, facts } = refusal
  return { outcome: 'refused', details: facts.details ? `${message}. ${facts.details}` : message }
}
