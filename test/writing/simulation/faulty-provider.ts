import { type Change, type ChangeResult, writtenColumns } from '../../../src/sheets/change.ts'
import type { Committed, Provider } from '../../../src/sheets/provider.ts'
import { OutcomeUnknown, ProviderFailure } from '../../../src/sheets/provider-failure.ts'
import type { Cell } from '../../../src/sheets/rows/grid.ts'
import { areSameColumns, type Column, servedColumnsOf } from '../../../src/sheets/rows/table.ts'
import type { VirtualTime } from './virtual-time.ts'

/** A spreadsheet somewhere out there, and everything that was ever done to it through the provider. */
export interface FarSheet {
  rows: Cell[][]
  version: number
  /** Each change that took effect, in order, with what it found or made; `before`: the row that it changed. */
  log: { fence: string; change: Change; before: Cell[]; result: ChangeResult }[]
}

export interface Faults {
  /** The answer to a write is lost, though it was done. */
  lost: number
  /** The answer is lost, and the write is done some time later. */
  late: number
  /** The answer is lost, and the write is never done. */
  never: number
  /** A write fails, and that is known. */
  failing: number
  /** Reading, preparing or settling fails. */
  away: number
  /** Refuses a write on a tab that has changed since it was read; like a file, unlike Google. */
  isConditional: boolean
  /** Knows the row numbers of additions before they are made. */
  isExact: boolean
  /** Offers to read the header alone. */
  hasHeader: boolean
  /** Offers to read some rows alone. */
  hasRows?: boolean
  /** Tells how the whole tab looks after a write, where somebody wants to know. */
  tellsTab?: boolean
  /** Like Google, whose answers show where a write landed: tells which changes hit another row than was meant, and columns that moved. */
  tellsRaces?: boolean
}

/** A cell that the spreadsheet will not take, whoever asks. */
export const poison = 'poison'
/** A cell that it can tell beforehand it cannot hold. */
export const unfit = 'unfit'

export interface FaultyProvider extends Provider {
  sheet: FarSheet
  prepared: number
  discarded: number
  /** Writes that may still come to pass. */
  pending: number
}

/** All that can go wrong between us and a spreadsheet, by the dice. */
export function createFaultyProvider(
  rows: Cell[][],
  time: VirtualTime,
  random: () => number,
  faults: Faults,
): FaultyProvider {
  const sheet: FarSheet = { rows, version: 1, log: [] }
  const applied = new Set<string>()
  const voided = new Set<string>()
  let lastFence = 0

  const provider: FaultyProvider = {
    sheet,
    prepared: 0,
    discarded: 0,
    pending: 0,
    async fetch() {
      await awayOrSlow()
      return fetched(sheet.rows)
    },
    async prepare(_place, changes, version, columns, isTabWanted = false) {
      await awayOrSlow()
      const changeAt = changes.findIndex((change) => holds(change, unfit))
      if (changeAt >= 0) return { changeAt, reason: 'value', details: 'It does not fit.' }
      if (faults.isConditional && version !== String(sheet.version)) return 'conflict'
      const fence = `fence-${++lastFence}`
      provider.prepared++
      const expected = changesOn(
        sheet.rows.map((row) => [...row]),
        changes,
      ).map((result) => (faults.isExact || result.kind !== 'add' ? result : { ...result, rowNumbers: [] }))
      return {
        fence,
        expected,
        isExact: faults.isExact,
        commit: async () =>
          withTab(withRaces(await commit(fence, changes, version), fence, changes, columns), isTabWanted),
        async discard() {
          provider.discarded++
        },
      }
    },
    async settle(_place, fence) {
      await awayOrSlow()
      if (applied.has(fence)) return 'applied'
      voided.add(fence)
      return 'void'
    },
  }
  if (faults.hasHeader) {
    provider.fetchHeader = async () => {
      await awayOrSlow()
      return fetched(sheet.rows.slice(0, 1))
    }
  }
  if (faults.hasRows) {
    provider.fetchRows = async (_place, wanted) => {
      await awayOrSlow()
      const rows = sheet.rows.map((row) => [...row])
      if (wanted.some(({ to }) => to > rows.length)) return null
      return {
        version: String(sheet.version),
        header: rows[0] ?? [],
        row: (rowNumber) => rows[rowNumber - 1] ?? [],
      }
    }
  }
  if (faults.tellsTab) provider.isTight = () => false
  return provider

  function withTab(committed: Committed, isTabWanted: boolean): Committed {
    if (!faults.tellsTab || !isTabWanted || committed.outcome !== 'applied') return committed
    return {
      ...committed,
      tab: { version: String(sheet.version), grid: { rows: sheet.rows.map((row) => [...row]) } },
    }
  }

  /** What a deletion took can be told from the rows around it for some, and for others not: then it is as it was meant. */
  function withRaces(
    committed: Committed,
    fence: string,
    changes: readonly Change[],
    columns: readonly Column[] | undefined,
  ): Committed {
    if (!faults.tellsRaces || committed.outcome !== 'applied') return committed
    const done = sheet.log.filter((one) => one.fence === fence)
    const written = writtenColumns(changes.filter(({ kind }) => kind === 'update'))
    const racedAt = [...changes.keys()].filter(
      (at) => !isAsRead(changes[at], done[at]?.before ?? [], written),
    )
    const results = committed.results.map((result, at) => {
      const change = changes[at]
      if (result.kind !== 'delete' || change?.kind !== 'delete' || !racedAt.includes(at)) return result
      const meant = Array.from(change.before ?? [], (cell) => cell ?? null)
      return Number(fence.slice(fence.indexOf('-') + 1)) % 2 === 0 ? { ...result, row: meant } : result
    })
    const columnsNow = servedColumnsOf({ rows: sheet.rows.slice(0, 1) })
    const isMoved = columns !== undefined && !areSameColumns(columns, columnsNow)
    return { ...committed, results, racedAt, ...(isMoved && { columns: columnsNow }) }
  }

  async function commit(fence: string, changes: readonly Change[], version: string): Promise<Committed> {
    await time.delay(1 + random() * 400)
    const dice = random()
    const { lost, late, never, failing } = faults
    if (dice < failing) throw new ProviderFailure('it fails')
    if (dice < failing + never) throw await afterSilence()
    if (dice < failing + never + late) {
      provider.pending++
      // Sometimes sooner than anyone asks, sometimes minutes after.
      time.after(random() * (random() < 0.5 ? 500 : 120_000), () => {
        provider.pending--
        apply(fence, changes, version)
      })
      throw await afterSilence()
    }
    const committed = apply(fence, changes, version)
    if (dice < failing + never + late + lost) throw await afterSilence()
    return committed
  }

  /** One atomic step, and never twice under one fence. */
  function apply(fence: string, changes: readonly Change[], version: string): Committed {
    if (voided.has(fence) || applied.has(fence)) return { outcome: 'conflict' }
    if (faults.isConditional && version !== String(sheet.version)) return { outcome: 'conflict' }
    if (changes.some((change) => holds(change, poison)))
      return { outcome: 'refused', details: 'It is poison.' }
    const befores: Cell[][] = []
    const results = changesOn(sheet.rows, changes, befores)
    sheet.version++
    applied.add(fence)
    for (const [at, result] of results.entries()) {
      const change = changes[at]
      if (change) sheet.log.push({ fence, change, before: befores[at] ?? [], result })
    }
    return { outcome: 'applied', results }
  }

  async function afterSilence(): Promise<OutcomeUnknown> {
    await time.delay(random() * (random() < 0.1 ? 30_000 : 2_000))
    return new OutcomeUnknown('no response')
  }

  async function awayOrSlow(): Promise<void> {
    await time.delay(1 + random() * 200)
    if (random() < faults.away) throw new ProviderFailure('it is away')
  }

  function fetched(shown: Cell[][]) {
    const bytes = Buffer.from(JSON.stringify(shown))
    return { bytes, version: String(sheet.version), decoder: { module: '', name: '', options: {} } }
  }
}

/** But for what the batch itself wrote. */
function isAsRead(
  change: Change | undefined,
  row: readonly Cell[],
  written: { has(index: number): boolean },
): boolean {
  if (change?.kind !== 'update' && change?.kind !== 'delete') return true
  return (change.before ?? []).every(
    (cell, at) => cell === undefined || written.has(at) || (cell ?? null) === (row[at] ?? null),
  )
}

function holds(change: Change, value: string): boolean {
  if (change.kind === 'add') return change.rows.some((row) => row.includes(value))
  return change.kind === 'update' && change.cells.some((cell) => cell.value === value)
}

/** Makes the changes, one after the other. */
function changesOn(rows: Cell[][], changes: readonly Change[], befores: Cell[][] = []): ChangeResult[] {
  return changes.map((change): ChangeResult => {
    befores.push(change.kind === 'add' ? [] : [...(rows[change.rowNumber - 1] ?? [])])
    if (change.kind === 'add') {
      const rowNumbers = change.rows.map((_, at) => rows.length + 1 + at)
      rows.push(...change.rows.map((row) => [...row]))
      return { kind: 'add', rowNumbers, rows: change.rows.map((row) => [...row]) }
    }
    const at = change.rowNumber - 1
    if (change.kind === 'delete') return { kind: 'delete', row: rows.splice(at, 1)[0] ?? [] }
    const row = rows[at] ?? []
    for (const { columnIndex, value } of change.cells) row[columnIndex] = value
    rows[at] = row
    return { kind: 'update', row: [...row] }
  })
}
