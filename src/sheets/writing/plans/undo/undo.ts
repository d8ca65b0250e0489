import { Refusal } from '../../../../errors.ts'
import type { CellChange, Change, ChangeResult, RowAsRead } from '../../../change.ts'
import { keyTextOf, type LoggedChange, type UnnamedCell } from '../../../logged-change.ts'
import { shortenName } from '../../../rows/column-name.ts'
import type { Cell } from '../../../rows/grid.ts'
import { equalityKeys } from '../../../rows/query/equal-values.ts'
import { cellReader } from '../../../rows/query/row-cells.ts'
import { createRowWriter } from '../../../rows/row-json.ts'
import type { IndexedSnapshot } from '../../../rows/snapshot.ts'
import { type Column, positionOfColumn } from '../../../rows/table.ts'
import type { Undo, UndoneChange } from '../../order.ts'
import type { Ground } from '../ground.ts'
import type { GroupEffects } from '../group-effects.ts'
import { type Judgement, type Plan, resultAs } from '../plan.ts'
import { cellsAsRead } from '../rows-as-read.ts'
import { type Followed, type FollowedChange, followOperation } from './following.ts'

type CellsByName = Readonly<Record<string, Cell>>

/** What a write left, by what has to become of it. Numbers are those of the sheet as it was read. */
interface Undoing {
  updates: { rowNumber: number; cells: CellChange[]; before: RowAsRead; spelling?: string }[]
  deletions: { rowNumber: number; before: RowAsRead; unnamed: UnnamedCell[] }[]
  /** Before which row each comes back, or which blank one it fills. */
  returns: { gap: number; cells: CellChange[]; isFilling?: true; spelling?: string }[]
  /** What is not as it was left, in words. */
  conflicts: string[]
  /** Columns whose formulas do not come back. */
  formulas: Set<string>
}

const shownConflicts = 10
const shownColumns = 10

/** Everything or nothing: each row is found again through the log, or by its key, and must be what the write has left. */
export function* judgeUndo(
  { undoneId }: Undo,
  ground: Ground,
  effects: GroupEffects,
): Generator<void, Judgement> {
  const { indexed, histories } = ground
  // What it finds depends on every row.
  if (!effects.isEmpty()) return 'later'
  const history = histories?.get(undoneId)
  if (!indexed || history === undefined) throw new Error('An undo is judged on the whole tab and its log')
  if (history === null) return new Refusal('operation_not_found')
  if (history.isCut)
    return conflict(['what it changed and what was changed since are more than can be gone through'])
  const followed = yield* followOperation(history)
  if (followed === 'reset')
    return conflict(['the log was restarted since, and does not tell what became of its rows'])
  if (followed.changes.length === 0) return new Refusal('operation_not_found')
  const undoing = yield* undoingOf(followed, ground, indexed)
  return undoing.conflicts.length > 0 ? conflict(undoing.conflicts) : planOf(undoneId, undoing)
}

function conflict(sentences: readonly string[]): Refusal {
  const shown = sentences.slice(0, shownConflicts).join('; ')
  const more = sentences.length > shownConflicts ? `; and ${sentences.length - shownConflicts} more` : ''
  const details = `${shown.charAt(0).toUpperCase()}${shown.slice(1)}${more}. Nothing was written.`
  return new Refusal('undo_conflict', { details })
}

function* undoingOf(
  { changes, nameNow, hasMovedUnseen }: Followed,
  { columns, rows, keyRule }: Ground,
  indexed: IndexedSnapshot,
): Generator<void, Undoing> {
  const undoing: Undoing = { updates: [], deletions: [], returns: [], conflicts: [], formulas: new Set() }
  const { conflicts } = undoing
  const columnNamed = new Map(columns.map((column) => [column.key, column]))
  const keyColumn = keyRule?.column ?? null
  const keyed = keyColumn && (yield* rowsByKey(indexed, keyColumn))
  const lastRow = indexed.lastRowNumber
  const taken = new Set<number>()
  const textAt = (rowNumber: number) => rows?.json(rowNumber) ?? null
  const blank = indexed.blankRowJson

  for (const followed of changes) {
    yield
    const { change } = followed
    if (change.kind === 'deleted') comeBack(followed)
    else changeBack(followed)
  }
  if (keyed) refuseRepeatedKeys(keyed)
  return undoing

  /** A row that was added goes, and one that was changed is changed back. */
  function changeBack(followed: FollowedChange): void {
    const { change } = followed
    const rowNumber = numberOf(followed)
    if (rowNumber === null) return
    taken.add(rowNumber)
    const json = textAt(rowNumber) ?? blank
    const [now, after, before] = [cellsOf(json), cellsOf(change.after), cellsOf(change.before)]
    const wrote = new Set(change.wrote ?? change.changed ?? Object.keys(after))
    const calculated = new Set((change.lost?.formulas ?? []).filter((name) => !wrote.has(name)))
    const others = differing(now, after, calculated)
    if (others.length > 0) {
      conflicts.push(`${nameOf(change, rowNumber)} has other values in ${listNames(others)} by now`)
      return
    }
    const asRead = cellsAsRead(columns, json)
    if (change.kind === 'added' && !change.isInPlace) {
      const unnamed = change.lost?.unnamed?.cells ?? []
      undoing.deletions.push({ rowNumber, before: asRead, unnamed })
      return
    }
    const names = Object.keys(after).filter(
      (name) => wrote.has(name) && (before[name] ?? null) !== (after[name] ?? null),
    )
    const cells = cellsFor(names, before, change, rowNumber)
    if (rowNumber > lastRow) returnRow({ gap: rowNumber, cells, isFilling: true }, change)
    else undoing.updates.push({ rowNumber, cells, before: asRead, ...spelt(change) })
  }

  /** A row that went comes back, at its place. */
  function comeBack({ change, rowNumber, isBack }: FollowedChange): void {
    if (isBack) {
      conflicts.push(`a row that it deleted is back already, as row ${rowNumber}`)
      return
    }
    const before = cellsOf(change.before)
    const filled = Object.keys(before).filter((name) => (before[name] ?? null) !== null)
    const at = rowNumber ?? change.row ?? lastRow + 1
    const gap = hasMovedUnseen ? Math.min(at, lastRow + 1) : at
    const cells = [...cellsFor(filled, before, change, gap), ...unnamedCellChanges(change)]
    if (!change.isInPlace || textAt(gap) !== null) returnRow({ gap, cells }, change)
    else if (gap > lastRow) returnRow({ gap, cells, isFilling: true }, change)
    else
      undoing.updates.push({ rowNumber: gap, cells, before: cellsAsRead(columns, blank), ...spelt(change) })
  }

  function returnRow(row: Undoing['returns'][number], change: LoggedChange): void {
    undoing.returns.push({ ...row, ...spelt(change) })
  }

  /** Where a row is that must be there; null is told as a conflict. */
  function numberOf({ change, rowNumber }: FollowedChange): number | null {
    if (keyed && keyColumn) {
      const key = keyTextOf([cellsOf(change.after)[keyNameThen(keyColumn.key)] ?? null], 0)
      const numbers = key === null ? [] : keyed.having(JSON.parse(key) as Cell)
      const [only, another] = numbers
      if (only !== undefined && another === undefined) return only
      if (only !== undefined) {
        conflicts.push(`the key ${key} is in rows ${numbers.slice(0, shownConflicts).join(', ')} by now`)
        return null
      }
      // Without a key it is known by its place alone.
      if (key === null && rowNumber !== null && !hasMovedUnseen) return rowNumber
    } else if (rowNumber !== null) return rowNumber
    conflicts.push(`${nameOf(change, change.row ?? null)} is no longer there`)
    return null
  }

  function keyNameThen(keyNow: string): string {
    const names = Object.keys(cellsOf(changes[0]?.change.after ?? changes[0]?.change.before))
    return names.find((name) => nameNow(name) === keyNow) ?? keyNow
  }

  /** Columns, as they are called now, whose cells are not what was left there; those that came since must be empty. */
  function differing(now: CellsByName, after: CellsByName, except: ReadonlySet<string>): string[] {
    const left = new Map<string, Cell>()
    const isExcepted = new Set<string>()
    for (const [name, cell] of Object.entries(after)) {
      const key = nameNow(name)
      if (key === null) continue
      left.set(key, cell)
      if (except.has(name)) isExcepted.add(key)
    }
    return columns.flatMap(({ key }) =>
      isExcepted.has(key) || (now[key] ?? null) === (left.get(key) ?? null) ? [] : key,
    )
  }

  function cellsFor(
    names: readonly string[],
    before: CellsByName,
    { lost, kind }: LoggedChange,
    rowNumber: number,
  ): CellChange[] {
    return names.flatMap((name): CellChange[] => {
      const key = nameNow(name)
      const column: Column | undefined = key === null ? undefined : columnNamed.get(key)
      if (!column) {
        const where = kind === 'deleted' ? 'a row that was deleted' : `row ${rowNumber}`
        conflicts.push(`the column ${quoteName(name)} of ${where} is no longer there`)
        return []
      }
      if (lost?.formulas?.includes(name)) undoing.formulas.add(column.key)
      const timeFormat = lost?.times?.find(([its]) => its === name)?.[1]
      const restored = { columnIndex: column.index, value: before[name] ?? null }
      return [timeFormat === undefined ? restored : { ...restored, timeFormat }]
    })
  }

  /** What stood under columns without a name comes back where it stood. */
  function unnamedCellChanges({ lost }: LoggedChange): CellChange[] {
    if (!lost?.unnamed) return []
    const { cells, namedAt } = lost.unnamed
    if (namedAt.join() !== columns.map(({ index }) => index).join()) {
      conflicts.push(
        'a row that was deleted had values under columns without a name, and columns have moved since',
      )
      return []
    }
    return cells.map(([columnIndex, value, timeFormat]) =>
      timeFormat === undefined ? { columnIndex, value } : { columnIndex, value, timeFormat },
    )
  }

  /** Keys that come back must not be those of other rows. */
  function refuseRepeatedKeys({ having }: RowsByKey): void {
    const index = keyColumn?.index ?? -1
    const coming = [
      ...undoing.updates.map(({ rowNumber, cells }) => ({ rowNumber, cells })),
      ...undoing.returns.map(({ cells }) => ({ rowNumber: null, cells })),
    ]
    for (const { rowNumber, cells } of coming) {
      const key = cells.find((cell) => cell.columnIndex === index)?.value ?? null
      if (key === null) continue
      const other = having(key).find((row) => row !== rowNumber && !taken.has(row))
      if (other !== undefined) conflicts.push(`the key ${JSON.stringify(key)} is in row ${other} by now`)
    }
  }
}

interface RowsByKey {
  /** The numbers of rows whose key equals this one, as the rules of a key column have it. */
  having(key: Cell): number[]
}

function* rowsByKey(snapshot: IndexedSnapshot, { key }: Column): Generator<void, RowsByKey> {
  const position = positionOfColumn(snapshot.columns, key) ?? -1
  const numbers = new Map<string, number[]>()
  const reader = cellReader(snapshot)
  for (let at = 0; at < snapshot.rowNumbers.length; at++) {
    if (reader.isTimeToPause()) yield
    const cell = reader.cell(at, position)
    if (cell === null) continue
    for (const name of equalityKeys(String(cell))) {
      const known = numbers.get(name)
      if (known) known.push(snapshot.rowNumbers[at] ?? 0)
      else numbers.set(name, [snapshot.rowNumbers[at] ?? 0])
    }
  }
  return {
    having: (cell) => [...new Set(equalityKeys(String(cell)).flatMap((name) => numbers.get(name) ?? []))],
  }
}

function cellsOf(text: string | undefined): CellsByName {
  return text === undefined ? {} : (JSON.parse(text) as CellsByName)
}

function spelt({ lost }: LoggedChange): { spelling?: string } {
  return lost?.spelling === undefined ? {} : { spelling: lost.spelling }
}

function nameOf({ key }: LoggedChange, rowNumber: number | null): string {
  if (key !== undefined) return `the row with the key ${shortenName(key)}`
  return rowNumber === null ? 'a row' : `row ${rowNumber}`
}

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, shownColumns).map(quoteName).join(', ')
  return names.length > shownColumns ? `${shown} and ${names.length - shownColumns} more` : shown
}

function quoteName(name: string): string {
  return `"${shortenName(name)}"`
}

/** Cells first, then rows from the last to the first, then those that come back from the top down: so each has its number. */
function planOf(undoneId: string, { updates, deletions, returns, formulas }: Undoing): Plan {
  const gone = deletions.map(({ rowNumber }) => rowNumber).sort((one, other) => one - other)
  const goneAbove = (rowNumber: number) => gone.filter((one) => one < rowNumber).length
  const ordered = returns.toSorted((one, other) => one.gap - other.gap)
  const inserted = ordered.map(({ gap }, at) => gap - goneAbove(gap) + at)
  const numberAfter = (rowNumber: number) =>
    rowNumber -
    goneAbove(rowNumber) +
    ordered.filter(({ gap, isFilling }) => !isFilling && gap <= rowNumber).length
  const fromLast = deletions.toSorted((one, other) => other.rowNumber - one.rowNumber)
  const changes: Change[] = [
    ...updates.map((update) => ({ kind: 'update' as const, ...update })),
    ...fromLast.map(({ unnamed, ...deletion }) => ({
      kind: 'delete' as const,
      ...deletion,
      unnamed: unnamed.map(([at, value]) => [at, value] as const),
    })),
    ...ordered.map(({ gap: _gap, ...row }, at) => ({
      kind: 'insert' as const,
      ...row,
      rowNumber: inserted[at] ?? 0,
    })),
  ]
  return {
    changes,
    isByContent: true,
    undoes: undoneId,
    ...(formulas.size > 0 && { warning: formulaWarning([...formulas]) }),
    *answer(results, columns) {
      return { kind: 'undone', undoneId, changes: yield* undone(changes, results, columns, numberAfter) }
    },
  }
}

function formulaWarning(names: readonly string[]): string {
  return `Formulas do not come back: what was their result is a plain value now, in ${listNames(names)}.`
}

function* undone(
  changes: readonly Change[],
  results: readonly ChangeResult[],
  columns: readonly Column[],
  numberAfter: (rowNumber: number) => number,
): Generator<void, UndoneChange[]> {
  const toJson = createRowWriter(columns)
  const asJson = (row: RowAsRead = []) => toJson(Array.from(row, (cell) => cell ?? null))
  const told: UndoneChange[] = []
  for (const [at, change] of changes.entries()) {
    yield
    const result = results[at]
    if (change.kind === 'update') {
      const afterJson = toJson(resultAs('update', result).row)
      const beforeJson = asJson(change.before)
      told.push({ kind: 'updated', rowNumber: numberAfter(change.rowNumber), beforeJson, afterJson })
    } else if (change.kind === 'delete') {
      const beforeJson = toJson(resultAs('delete', result).row)
      told.push({ kind: 'deleted', rowNumber: change.rowNumber, beforeJson, afterJson: null })
    } else if (change.kind === 'insert') {
      const afterJson = toJson(resultAs('insert', result).row)
      told.push({ kind: 'added', rowNumber: change.rowNumber, beforeJson: null, afterJson })
    }
  }
  return told
}
