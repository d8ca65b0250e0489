import type { LoggedChange } from '../../sheets/logged-change.ts'
import { applyChanges, type TabRows } from './tab-rows.ts'

/**
 * What was written nobody knew where, with its places, if that and nothing else leads from one tab to another of the same columns: new rows stand at the
 * end then, in their order. null where somebody did something as well.
 */
export function replayChanges(
  known: TabRows,
  written: readonly LoggedChange[],
  next: TabRows,
  isKeyed: boolean,
): LoggedChange[] | null {
  // Of a write that hit another row than was meant, nobody knows yet what that row was.
  if (written.some(({ kind, before }) => kind !== 'added' && before === undefined)) return null
  return isKeyed ? byKey(known, written, next) : byPosition(known, written, next)
}

function byPosition(known: TabRows, written: readonly LoggedChange[], next: TabRows): LoggedChange[] | null {
  const tab = { names: known.names, rows: [...known.rows] }
  const placed: LoggedChange[] = []
  for (const change of written) {
    const row = change.row ?? tab.rows.length + 2
    if (change.kind !== 'added' && tab.rows[row - 2] !== change.before) return null
    const one = { ...change, row }
    applyChanges(tab, [one], false)
    placed.push(one)
  }
  const isSame = tab.rows.length === next.rows.length && tab.rows.every((text, at) => text === next.rows[at])
  return isSame ? placed : null
}

function byKey(known: TabRows, written: readonly LoggedChange[], next: TabRows): LoggedChange[] | null {
  const counts = new Map<string, number>()
  const add = (text: string, more: number) => counts.set(text, (counts.get(text) ?? 0) + more)
  for (const text of known.rows) add(text, 1)
  for (const { before, after } of written) {
    if (before !== undefined) {
      if ((counts.get(before) ?? 0) === 0) return null
      add(before, -1)
    }
    if (after !== undefined) add(after, 1)
  }
  for (const text of next.rows) add(text, -1)
  return [...counts.values()].every((count) => count === 0) ? [...written] : null
}
