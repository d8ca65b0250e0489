import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import {
  changesText,
  changesTogether,
  type LoggedChange,
  type LostOfRow,
  operationsOf,
  readChanges,
} from '../../sheets/logged-change.ts'
import type { Handed, ThreadJob } from '../../sheets/threads/thread-jobs.ts'
import { asWritten } from './as-written.ts'
import { changedColumns, compareColumns, compareRows, createKeyReader } from './compare-tabs.ts'
import { hitInstead } from './hit-instead.ts'
import { replayChanges } from './replay.ts'
import { applyChanges, type RowsOfSnapshot, renameColumns, type TabRows, tabOf } from './tab-rows.ts'

export interface ToCompare {
  /** Rows as they were at some place of the log: of a snapshot, or the text of a state; null where there are none. */
  known: RowsOfSnapshot | string | null
  /** Chunks of the log since then. */
  since: readonly string[]
  next: RowsOfSnapshot
  keyColumn: string | null
  /** What was written nobody knows where. */
  unplaced: string | null
  /** It cannot be told what came between. */
  mustReset: boolean
  /** The rows as a state, wanted in any case. */
  wantsState: boolean
}

export interface Compared {
  /** In chunks. */
  chunks: { entries: string; count: number; operations: string[] }[]
  state: string | null
}

export const compareJob: ThreadJob<ToCompare, Compared> = {
  module: new URL('./compare-job.ts', import.meta.url).href,
  name: 'runCompare',
}

export function runCompare(input: ToCompare): Handed<Compared> {
  return { reply: compare(input), handOver: [] }
}

export function compare({
  known,
  since,
  next: nextRows,
  keyColumn,
  unplaced,
  mustReset,
  wantsState,
}: ToCompare): Compared {
  const isKeyed = keyColumn !== null
  const next = tabOf(nextRows, isKeyed)
  let changes: LoggedChange[] = []
  let isReset = mustReset
  if (known !== null && !mustReset) {
    const tab = typeof known === 'string' ? readState(known) : tabOf(known, isKeyed)
    for (const chunk of since) applyChanges(tab, readChanges(chunk), isKeyed)
    const told = differences(tab, next, unplaced === null ? [] : readChanges(unplaced), keyColumn)
    if (told === 'reset') isReset = true
    else changes = told
  }
  if (isReset) changes = [{ kind: 'reset' }]
  const chunks: Compared['chunks'] = []
  for (let from = 0; from < changes.length; from += changesTogether) {
    const some = changes.slice(from, from + changesTogether)
    chunks.push({ entries: changesText(some), count: some.length, operations: operationsOf(some) })
  }
  const isStateNeeded = wantsState || isReset || known === null
  return { chunks, state: isStateNeeded ? stateText(next) : null }
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
  const written = underNewNames(unplaced, columns)
  const own = written.length > 0 ? replayChanges(tab, written, next, keyOf !== null) : null
  const { told, left } = own ? { told: own, left: [] } : asWritten(tab, written, next, keyOf)
  for (const change of told) if (change.kind === 'updated') change.changed = changedColumns(change)
  const others = own ? [] : compareRows(tab, next, keyOf)
  if (others === 'reset') return 'reset'
  attribute(others, left)
  return [...(columns ? [columns] : []), ...told, ...others]
}

/** Differences that lead to what we wrote ourselves are ours. */
function attribute(changes: readonly LoggedChange[], written: readonly LoggedChange[]): void {
  if (written.length === 0) return
  const ledTo = Map.groupBy(written, nameOf)
  for (const change of changes) {
    const ours = ledTo.get(nameOf(change))?.shift()
    if (!ours) continue
    sign(change, ours)
    if (ours.wrote !== undefined) change.wrote = ours.wrote
    if (ours.lost !== undefined) change.lost = ours.lost
  }
  const others = changes.filter(({ operation }) => operation === undefined)
  for (const [change, ours] of hitInstead(others, [...ledTo.values()].flat())) sign(change, ours)
}

function sign(change: LoggedChange, { operation, by, undoes }: LoggedChange): void {
  if (operation !== undefined) change.operation = operation
  if (by !== undefined) change.by = by
  if (undoes !== undefined) change.undoes = undoes
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

/** Names in the first line, then a row a line: JSON has no line breaks of its own. */
function stateText({ names, rows }: TabRows): string {
  return zstdCompressSync([JSON.stringify(names), ...rows].join('\n')).toString('base64')
}

function readState(text: string): TabRows {
  const [names = '[]', ...rows] = zstdDecompressSync(Buffer.from(text, 'base64')).toString().split('\n')
  return { names: JSON.parse(names) as string[], rows }
}
