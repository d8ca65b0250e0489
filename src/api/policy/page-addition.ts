import type { Pass } from '../../admission/judge.ts'
import type { KeyPolicy } from '../../admission/key-policy.ts'
import { Refusal } from '../../errors.ts'
import type { Cell } from '../../sheets/rows/grid.ts'
import { type Column, positionOfColumn } from '../../sheets/rows/table.ts'
import {
  type AdditionBounds,
  movedWarning,
  racedWarning,
  type WriteAnswer,
} from '../../sheets/writing/order.ts'
import { policyOutdated, positionsOf } from './key-view.ts'

/** What rows a key may add; null for a secret key, which may add any. */
export function boundsOf({ key, sheet }: Pass, nowMs: () => number): AdditionBounds | null {
  return key?.policy ? boundsOfPolicy(key.policy, sheet.keyColumn, nowMs) : null
}

function boundsOfPolicy(
  policy: Pick<KeyPolicy, 'readColumns' | 'writeColumns' | 'where' | 'set'> & { may: KeyPolicy['may'] },
  keyColumn: string | null,
  nowMs: () => number,
): AdditionBounds {
  const { readColumns, writeColumns, where, set } = policy
  return {
    of(columns) {
      const always: { column: Column; value: Cell }[] = []
      for (const [name, value] of set) {
        const column = columnCalled(name, columns)
        if (!column) return policyOutdated
        always.push({ column, value: value === timeOfAddition ? new Date(nowMs()).toISOString() : value })
      }
      // Whether a key is taken already tells of rows and cells that this one may not see.
      const seesAllKeys = keyColumn !== null && where === null && policy.may.includes('read')
      const at = keyColumn === null ? null : positionOfColumn(columns, keyColumn)
      const isKeyShown = at !== null && seesAllKeys && positionsOf(readColumns, columns).includes(at)
      const writable = positionsOf(writeColumns ?? readColumns, columns)
        .filter((position) => position !== at || isKeyShown)
        .flatMap((position) => columns[position] ?? [])
      return { writable, always, mayHearOfKeys: isKeyShown }
    },
  }
}

const timeOfAddition = 'now()'

function columnCalled(name: string, columns: readonly Column[]): Column | null {
  const at = positionOfColumn(columns, name)
  return at === null ? null : (columns[at] ?? null)
}

/** What was added, as far as the key may read it. Where a row stands is for those who can read it there. */
export function answerForPage(
  answer: WriteAnswer | Refusal,
  { may, readColumns, where }: KeyPolicy,
): typeof answer {
  if (answer instanceof Refusal) return answer
  if (answer.kind !== 'added') throw new Error(`A publishable key was answered with "${answer.kind}"`)
  const { rowsJson, rowNumbers, warning, isDryRun } = answer
  const mayRead = may.includes('read')
  // Where a row would stand tells of rows above it that hold only what this key may not see, as often as somebody asks.
  const isPlaceTold = mayRead && where === null && !(isDryRun && readColumns !== null)
  return {
    kind: 'added',
    rowNumbers: isPlaceTold ? rowNumbers : [],
    rowsJson: rowsJson.map((json) => (mayRead ? readable(json, readColumns) : '{}')),
    ...((warning === movedWarning || warning === racedWarning) && { warning }),
    ...(isDryRun && { isDryRun }),
  }
}

function readable(json: string, names: readonly string[] | null): string {
  if (names === null) return json
  const row = JSON.parse(json) as Record<string, Cell>
  const columns = Object.keys(row).map((key, index) => ({ key, index }))
  const members = positionsOf(names, columns).map((at) => {
    const key = columns[at]?.key ?? ''
    return `${JSON.stringify(key)}:${JSON.stringify(row[key])}`
  })
  return `{${members.join(',')}}`
}
