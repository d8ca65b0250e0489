import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import type { Observe } from '../observe.ts'
import type { SheetFacts, SheetRecord, Store } from '../store/store.ts'
import type { Cell } from './grid.ts'
import type { Provider } from './provider.ts'
import { ProviderFailure } from './provider-failure.ts'
import type { Reading } from './reading.ts'
import { createCellMapping, type RowInput } from './row-input.ts'
import { createRowWriter } from './row-json.ts'

/** Adds rows to sheets, one request after the other for each spreadsheet. */
export interface Writing {
  addRows(sheet: SheetFacts, rows: readonly RowInput[]): Promise<AddedRows | Refusal>
}

export interface AddedRows {
  rowNumbers: number[]
  /** Each whole row as JSON text, the way a read would show it. */
  rowsJson: string[]
}

/** Someone else may change the file between our look at it and our write; each time we look again, so often. */
const maxAttempts = 5

/** Writes that may wait for one spreadsheet; each holds up to 2 MiB. */
const maxWaiting = 200

export interface WritingParts {
  store: Pick<Store, 'sheetById' | 'countWrite'>
  providers: ReadonlyMap<string, Provider>
  reading: Reading
  clock: Clock
  observe: Observe
}

export function createWriting({ store, providers, reading, clock, observe }: WritingParts): Writing {
  const lanes = new Map<string, Lane>()

  return {
    async addRows(sheet, rows) {
      const record = await store.sheetById(sheet.id)
      const provider = record && providers.get(record.provider)
      if (!record || !provider) throw new ProviderFailure('the sheet is not connected any more')
      return inLane(record.source, async () => {
        const begunMs = clock.elapsedMs()
        const added = await addNow(sheet, record, provider, rows)
        const durationMs = clock.elapsedMs() - begunMs
        if (!(added instanceof Refusal))
          observe({ event: 'rows_added', sheetId: sheet.id, rows: rows.length, durationMs })
        return added
      })
    },
  }

  async function addNow(
    sheet: SheetFacts,
    record: SheetRecord,
    provider: Provider,
    rows: readonly RowInput[],
  ): Promise<AddedRows | Refusal> {
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const { snapshot, version } = await reading.readForWriting(sheet)
      if (snapshot.columns.length === 0) return new Refusal('missing_headers')
      const toCells = createCellMapping(snapshot.columns, record.unknownFields)
      const cellRows: Cell[][] = []
      for (const row of rows) {
        const cells = toCells(row)
        if (cells instanceof Refusal) return cells
        cellRows.push(cells)
      }
      const outcome = await append(record, provider, cellRows, version)
      if (outcome instanceof Refusal) return outcome
      if (outcome === 'conflict') continue
      await store.countWrite(record.source)
      const rowNumbers = cellRows.map((_, at) => snapshot.lastRowNumber + 1 + at)
      return { rowNumbers, rowsJson: cellRows.map(createRowWriter(snapshot.columns)) }
    }
    throw new ProviderFailure('the spreadsheet keeps changing while we write to it')
  }

  /** A read that failed on the way here was reported by the one who read. */
  async function append(record: SheetRecord, provider: Provider, rows: Cell[][], version: string) {
    try {
      return await provider.append(record.location, rows, version)
    } catch (error) {
      if (error instanceof ProviderFailure) {
        const { message: reason, cause } = error
        const { id: sheetId, provider: name } = record
        observe({ event: 'provider_failed', sheetId, provider: name, action: 'write', reason, cause })
      }
      throw error
    }
  }

  /** One writer at a time for each spreadsheet, in the order of asking; a queue that would take too long is refused. */
  function inLane<T>(source: string, work: () => Promise<T>): Promise<T> | Refusal {
    const lane = lanes.get(source) ?? { last: Promise.resolve(), waiting: 0 }
    if (lane.waiting >= maxWaiting) {
      const details = 'Too many writes are waiting for this spreadsheet.'
      return new Refusal('service_unavailable', { details, retryAfterSeconds: 1 })
    }
    lanes.set(source, lane)
    lane.waiting++
    const turn = lane.last.then(work)
    lane.last = turn
      .catch(() => {})
      .then(() => {
        lane.waiting--
        if (lane.waiting === 0) lanes.delete(source)
      })
    return turn
  }
}

interface Lane {
  /** Settles when the one who came last is done. */
  last: Promise<unknown>
  waiting: number
}
