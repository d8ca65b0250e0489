import type { Provider } from '../../sheets/provider.ts'
import type { ProviderKinds } from '../../sheets/provider-kind.ts'
import type { Decoding } from '../../sheets/reading/decoding.ts'
import { type KeyColumnState, keyColumnState } from '../../sheets/rows/find/key-column-state.ts'
import { positionOfColumn } from '../../sheets/rows/table.ts'
import type { SheetRecord } from '../../store/sheets/sheets.ts'
import { Problem } from '../problem.ts'
import { orProblem } from './provider-problem.ts'

/** Whether a column can name the rows of a sheet, as the sheet is now. */
export interface KeyColumns {
  /** The name of the column as the sheet has it, or why it cannot. */
  check(sheet: SheetRecord, name: string): Promise<string | Problem>
}

export interface KeyColumnsParts {
  providers: ReadonlyMap<string, Provider>
  kinds: ProviderKinds
  decoding: Decoding
  /** Does it on the thread that answers everybody, bit by bit. */
  inTurns<T>(accountId: string, steps: Generator<void, T>): Promise<T>
}

export function createKeyColumns({ providers, kinds, decoding, inTurns }: KeyColumnsParts): KeyColumns {
  return {
    async check(sheet, name) {
      const provider = providers.get(sheet.provider)
      if (!provider) throw new Error(`There is no provider "${sheet.provider}"`)
      const wish = { values: 'typed', knownVersion: null } as const
      const snapshot = await orProblem(kinds.of(sheet.provider), async () => {
        const decoded = await decoding.decode(sheet.accountId, (turn) => provider.fetch(sheet, wish, turn))
        if (decoded === 'unchanged') throw new Error(`The provider "${sheet.provider}" gave no bytes`)
        return decoded.indexed
      })
      if (snapshot instanceof Problem) return snapshot
      const { columns } = snapshot
      const position = positionOfColumn(columns, name)
      const column = position === null ? undefined : columns[position]
      if (position === null || !column) {
        const names = columns.slice(0, 20).map(({ key }) => `"${key}"`)
        return problem(`the sheet has no column "${name}"; there are ${names.join(', ')}`)
      }
      const state = await inTurns(sheet.accountId, keyColumnState(snapshot, position))
      const words = inWords(state)
      return words === null ? column.key : problem(`"${column.key}" cannot name the rows: ${words}`)
    },
  }
}

function inWords({ blanks, blankRows, repeats, repeatRows }: KeyColumnState): string | null {
  const reasons = [
    ...(blanks > 0 ? [`${rowsOf(blanks, blankRows)} no value there`] : []),
    ...(repeats > 0 ? [`${rowsOf(repeats, repeatRows)} a value that another row has too`] : []),
  ]
  return reasons.length === 0 ? null : reasons.join(', and ')
}

function rowsOf(count: number, shown: readonly number[]): string {
  if (count === 1) return `row ${shown[0]} has`
  return `rows ${shown.join(', ')}${count > shown.length ? ` and ${count - shown.length} more` : ''} have`
}

function problem(message: string): Problem {
  return new Problem(message, { field: 'keyColumn' })
}
