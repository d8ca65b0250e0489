import {
  type ChangesChunk,
  chunksOfChanges,
  type LoggedChange,
  type LostOfRow,
  readChanges,
} from '../../sheets/logged-change.ts'
import { collectGarbage } from '../../sheets/reading/collect-garbage.ts'
import type { Cell } from '../../sheets/rows/grid.ts'
import { createRowWriter } from '../../sheets/rows/row-json.ts'
import type { Handed, ThreadJob } from '../../sheets/threads/thread-jobs.ts'
import { mostUnpackedCharacters, packEntries } from '../../store/changes/packed-entries.ts'
import { asWritten, cellsOf, type Written, type WrittenCells } from './as-written.ts'
import { changedColumns, compareColumns, compareRows, createKeyReader } from './compare-tabs.ts'
import { type HandedToCompare, type ToCompare, takeHanded } from './handed-rows.ts'
import { holds } from './hit-instead.ts'
import { replayChanges } from './replay.ts'
import { readState, stateOfRows, stateText } from './state-text.ts'
import {
  applyChanges,
  columnsNamed,
  type RowsOfSnapshot,
  renameColumns,
  type TabRows,
  tabOf,
} from './tab-rows.ts'

export interface Compared {
  /** In chunks, packed where they have `textBytes`. */
  chunks: (ChangesChunk & { textBytes?: number })[]
  state: string[] | null
}

export const compareJob: ThreadJob<HandedToCompare, Compared> = {
  module: new URL('./compare-job.ts', import.meta.url).href,
  name: 'runCompare',
}

/** What is found here is packed here: a long file that was replaced has hundreds of chunks. */
export async function runCompare(input: HandedToCompare): Promise<Handed<Compared>> {
  const { chunks, isStateNeeded } = findChanges(takeHanded(input), letGo)
  const packed = chunks.map(({ entries, ...chunk }) => ({
    ...chunk,
    entries: packEntries(entries, mostUnpackedCharacters),
    textBytes: Buffer.byteLength(entries),
  }))
  const { next, keyColumn } = input
  const state = isStateNeeded ? await stateOfRows(next, keyColumn !== null) : null
  // A thread that has nothing to do collects nothing.
  if (next.listJson.byteLength >= collectedFromBytes) setImmediate(collectGarbage)
  return { reply: { chunks: packed, state }, handOver: [] }
}

const collectedFromBytes = 4 * 1024 * 1024

/** Rows that were handed over, when texts were made of them: gone at once, and not when somebody collects. */
function letGo({ listJson }: RowsOfSnapshot): void {
  if (listJson.buffer instanceof ArrayBuffer) listJson.buffer.transfer(0)
}

export function compare(input: ToCompare): Compared {
  const { chunks, isStateNeeded, tab } = findChanges(input)
  return { chunks, state: isStateNeeded ? stateText(tab) : null }
}

interface FoundChanges {
  chunks: ChangesChunk[]
  isStateNeeded: boolean
  /** As it is now. */
  tab: TabRows
}

function findChanges(
  { known, since, next, keyColumn, unplaced, mustReset, wantsState }: ToCompare,
  onRead: (rows: RowsOfSnapshot) => void = () => {},
): FoundChanges {
  const isKeyed = keyColumn !== null
  const former = known === null || mustReset ? null : tabOfKnown(known)
  const tab = tabOf(next, isKeyed)
  let changes: LoggedChange[] = []
  let isReset = mustReset
  if (former) {
    for (const chunk of since)
      applyChanges(former, readChanges(Buffer.from(chunk.buffer).toString()), isKeyed)
    const told = differences(former, tab, unplaced === null ? [] : readChanges(unplaced), keyColumn)
    if (told === 'reset') isReset = true
    else changes = told
  }
  if (isReset) changes = [{ kind: 'reset' }]
  const isStateNeeded = wantsState || isReset || known === null
  return { chunks: [...chunksOfChanges(changes)], isStateNeeded, tab }

  function tabOfKnown(rows: NonNullable<ToCompare['known']>): TabRows {
    if (!('listJson' in rows)) return readState(rows, next.listJson.byteLength)
    const former = tabOf(rows, isKeyed)
    onRead(rows)
    return former
  }
}

/** Columns first, then what we wrote ourselves, then what else it takes to come to `next`. */
function differences(
  tab: TabRows,
  next: TabRows,
  unplaced: readonly LoggedChange[],
  keyColumn: string | null,
): LoggedChange[] | 'reset' {
  const columns = compareColumns(tab, next)
  if (columns === 'reset') return 'reset'
  const keyOf = keyColumn === null ? null : createKeyReader(next.names, keyColumn)
  const named = underNewNames(unplaced, columns)
  const own = named.length > 0 ? replayChanges(tab, named, next, keyOf !== null) : null
  if (own) return [...(columns ? [columns] : []), ...own.map(asTold)]
  const written = named.map((change, at) => writtenOf(change, unplaced[at] ?? change, columns))
  const { told, left, tab: withWrites } = asWritten(tab, written, next, keyOf)
  const others = compareRows(withWrites, next, keyOf)
  if (others === 'reset') return 'reset'
  const whose = attributeChanges(others, left, next, keyColumn)
  return [...(columns ? [columns] : []), ...told.map(asTold), ...whose]
}

function asTold({ meantRow: _, ...change }: LoggedChange): LoggedChange {
  return change.kind === 'updated' ? { ...change, changed: changedColumns(change) } : change
}

function writtenOf(change: LoggedChange, asSent: LoggedChange, columns: LoggedChange | null): Written {
  const cells = cellsWritten(change)
  if (columns === null) return { change, cells, cellsByPlace: null }
  const [from = [], to = []] = [columns.before, columns.after].map(
    (list) => JSON.parse(list ?? '[]') as string[],
  )
  const cellsByPlace = cellsWritten(asSent).flatMap(([name, value]): [string, Cell][] => {
    const at = from.indexOf(name)
    const now = at === -1 ? undefined : to[at]
    return now === undefined ? [] : [[now, value]]
  })
  return { change, cells, cellsByPlace }
}

/** All cells of an addition. */
function cellsWritten({ kind, after, wrote, changed = [] }: LoggedChange): [string, Cell][] {
  if (after === undefined) return []
  return kind === 'added'
    ? Object.entries(JSON.parse(after) as Record<string, Cell>)
    : cellsOf(after, wrote ?? changed)
}

/** Differences that lead to what we wrote ourselves are ours. */
function attributeChanges(
  changes: readonly LoggedChange[],
  written: readonly Written[],
  { names }: TabRows,
  keyColumn: string | null,
): LoggedChange[] {
  if (written.length === 0) return [...changes]
  const left = new Set(written)
  return changes.flatMap((difference) => {
    const ours =
      find(({ change }) => nameOf(change) === nameOf(difference)) ??
      find(({ change, cells }) => change.kind === 'updated' && isAddedWith(difference, cells))
    if (!ours) return difference
    left.delete(ours)
    const { change, cells } = ours
    if (change.kind === 'updated' && difference.kind === 'added') return intoNewRow(difference, change, cells)
    const { wrote, lost } = change
    return sign({ ...difference, ...(wrote && { wrote }), ...(lost && { lost }) }, change)
  })

  function find(isIt: (write: Written) => boolean): Written | undefined {
    return [...left].find(isIt)
  }

  /** Somebody put a row there, and the write hit that one. */
  function intoNewRow(
    added: LoggedChange,
    change: LoggedChange,
    cells: WrittenCells,
  ): LoggedChange | LoggedChange[] {
    const { row, key, isByPosition, after = '{}' } = added
    const wrote = new Set(cells.map(([name]) => name))
    const rest = JSON.parse(after) as Record<string, Cell>
    const kept = names.map((name) => (wrote.has(name) ? null : (rest[name] ?? null)))
    const isNothingLeft = kept.every((cell) => cell === null)
    if (isNothingLeft || (keyColumn !== null && wrote.has(keyColumn))) return sign(added, change)
    const before = createRowWriter(columnsNamed(names))(kept)
    const updated: LoggedChange = {
      kind: 'updated',
      ...(row !== undefined && { row }),
      ...(key !== undefined && { key }),
      before,
      after,
      ...(isByPosition && { isByPosition }),
    }
    return [{ ...added, after: before }, asTold(sign(updated, change))]
  }
}

function isAddedWith({ kind, after = '{}' }: LoggedChange, cells: WrittenCells): boolean {
  if (kind !== 'added' || cells.every(([, value]) => value === null)) return false
  return holds(after, cells)
}

function sign(change: LoggedChange, { operation, by, undoes }: LoggedChange): LoggedChange {
  return {
    ...change,
    ...(operation !== undefined && { operation }),
    ...(by !== undefined && { by }),
    ...(undoes !== undefined && { undoes }),
  }
}

/** Where columns were changed, rows are compared as they are under the new names; a write may know these already. */
function underNewNames(
  written: readonly LoggedChange[],
  columns: LoggedChange | null,
): readonly LoggedChange[] {
  if (columns === null || written.length === 0) return written
  const [from = [], to = []] = [columns.before, columns.after].map(
    (list) => JSON.parse(list ?? '[]') as string[],
  )
  const now = new Set(to)
  const namesNow = new Map(columns.renamed)
  const renamed = (text: string | undefined) => {
    if (text === undefined) return undefined
    const isNew = new Set(Object.keys(JSON.parse(text) as object)).symmetricDifference(now).size === 0
    const tab: TabRows = { names: isNew ? to : from, rows: [text] }
    renameColumns(tab, to, isNew ? [] : (columns.renamed ?? []))
    return tab.rows[0]
  }
  const nameNow = (name: string) => namesNow.get(name) ?? name
  return written.map(({ before, after, changed, wrote, lost, ...write }) => {
    const [was, is] = [renamed(before), renamed(after)]
    return {
      ...write,
      ...(was !== undefined && { before: was }),
      ...(is !== undefined && { after: is }),
      ...(changed && { changed: changed.map(nameNow) }),
      ...(wrote && { wrote: wrote.map(nameNow) }),
      ...(lost && { lost: renameLost(lost, nameNow) }),
    }
  })
}

function renameLost({ times, formulas, ...lost }: LostOfRow, nameNow: (name: string) => string): LostOfRow {
  return {
    ...lost,
    ...(times && { times: times.map(([name, format]): [string, string] => [nameNow(name), format]) }),
    ...(formulas && { formulas: formulas.map(nameNow) }),
  }
}

function nameOf({ kind, before, after }: LoggedChange): string {
  return kind === 'deleted' ? `- ${before}` : `+ ${after}`
}
