import type { AccountPlace, Provider } from '../../sheets/provider.ts'
import type { ProviderKinds } from '../../sheets/provider-kind.ts'
import type { Decoding } from '../../sheets/reading/decoding.ts'
import { rowJson } from '../../sheets/rows/snapshot.ts'
import type { SheetRecord } from '../../store/sheets/sheets.ts'
import { Problem } from '../problem.ts'
import { columnTypesOf } from './column-types.ts'
import { orProblem } from './provider-problem.ts'
import type { Sheets, SheetToConnect } from './sheets.ts'

/** Looks at a tab before it becomes a sheet: one that cannot be read now would only fail later, before its clients. */
export interface Connecting {
  /** Throws the reason of `left` when whoever asked leaves before it is done, like `connect`, which has then done nothing. */
  preview(provider: string, place: AccountPlace, left?: AbortSignal): Promise<Preview | Problem>
  connect(sheet: SheetToConnect, left?: AbortSignal): Promise<ConnectedSheet | Problem>
}

export interface Preview {
  /** The names that rows will have, in order. */
  columns: string[]
  /** Where each stands in the sheet, from 0. */
  columnIndexes: number[]
  /** For each column the TypeScript type of its cells. */
  columnTypes: string[]
  /** The first rows, as the API will send them. */
  firstRowsJson: string[]
  rowCount: number
}

export interface ConnectedSheet {
  sheet: SheetRecord
  preview: Preview
}

const shownRows = 5
/** Upper bound on the rows that are shown: of longer rows there are fewer, of one that is longer still none. */
const shownBytes = 1024 * 1024

export interface ConnectingParts {
  sheets: Sheets
  providers: ReadonlyMap<string, Provider>
  kinds: ProviderKinds
  decoding: Decoding
}

export function createConnecting({ sheets, providers, kinds, decoding }: ConnectingParts): Connecting {
  return {
    preview,
    async connect(wish, left) {
      const { account, provider, location, credentialId = null } = wish
      const problem = wish.isByOperator ? null : await sheets.problemWithOneMore(account)
      if (problem) return problem
      const seen = await preview(provider, { accountId: account.id, location, credentialId }, left)
      if (seen instanceof Problem) return seen
      const sheet = await sheets.connect(wish)
      return sheet instanceof Problem ? sheet : { sheet, preview: seen }
    },
  }

  async function preview(name: string, place: AccountPlace, left?: AbortSignal): Promise<Preview | Problem> {
    const provider = providers.get(name)
    if (!provider) throw new Error(`There is no provider "${name}"`)
    const wish = { values: 'typed', knownVersion: null } as const
    const snapshot = await orProblem(kinds.of(name), async () => {
      const decoded = await decoding.decode(
        place.accountId,
        (turn) => provider.fetch(place, wish, turn),
        left && { left },
      )
      if (decoded === 'unchanged') throw new Error(`The provider "${name}" gave no bytes`)
      return decoded.indexed
    })
    if (snapshot instanceof Problem) return snapshot
    const { columns, rowNumbers, rowStarts } = snapshot
    if (columns.length === 0) return new Problem('row 1 has no headers; put a name above each column')
    const shown = Math.min(shownRows, rowNumbers.length)
    const fitting = rowStarts.subarray(1, shown + 1).filter((end) => end <= shownBytes).length
    return {
      columns: columns.map(({ key }) => key),
      columnIndexes: columns.map(({ index }) => index),
      columnTypes: columnTypesOf(snapshot),
      firstRowsJson: Array.from({ length: fitting }, (_, at) => rowJson(snapshot, at)),
      rowCount: rowNumbers.length,
    }
  }
}
