import type { Wish, WriteOrder } from './order.ts'

const maxOrders = 200
const maxRows = 1_000
const maxBytes = 1_500_000

type Batchable = Pick<WriteOrder, 'sheet' | 'wish' | 'bytes' | 'isDryRun'>

/** Rows below each may be one of several, and all of these are read. */
const maxDeletions = 20

export interface BatchRules {
  /** A header alone is cheaper to read than rows. */
  isHeaderEnough: boolean
  /** A write is dear: deletions go with others. */
  areDeletionsTogether: boolean
}

/**
 * How many of the orders that wait, from the first on, can go to the provider together. Each must mean the same there
 * as it would alone, after those before it: so what looks at all rows goes alone, and whatever looks at what another one of the
 * batch has made waits for the next. A deletion renumbers the rows below: where nothing is gained by it, it goes alone.
 */
export function batchLength(waiting: readonly Batchable[], rules: BatchRules): number {
  const { isHeaderEnough } = rules
  const [first] = waiting
  if (!first) return 0
  if (goesAlone(first, rules)) return 1
  // It says nothing about rows.
  const isHeaderBatch = isHeaderEnough && first.wish.kind === 'add' && !first.sheet.keyColumn
  const updatedRows = new Set<number>()
  let rows = 0
  let bytes = 0
  let deletions = 0
  for (const [at, order] of waiting.entries()) {
    const { sheet, wish, bytes: size } = order
    rows += 'rows' in wish ? wish.rows.length : 1
    bytes += size
    const isTooMuch = at >= maxOrders || rows > maxRows || bytes > maxBytes
    if (at > 0 && (isTooMuch || sheet.id !== first.sheet.id)) return at
    if (goesAlone(order, rules) || (isHeaderBatch && wish.kind !== 'add')) return at
    if (wish.kind === 'delete' && ++deletions > maxDeletions) return at
    if (wish.kind !== 'update') continue
    if (wish.rowNumber !== undefined) {
      if (wish.isRowAsExpected && updatedRows.has(wish.rowNumber)) return at
      updatedRows.add(wish.rowNumber)
    }
    // If that was the last row with data, there is one row less for those who follow.
    if (mayEmptyRow(wish)) return at + 1
  }
  return waiting.length
}

function goesAlone({ wish, isDryRun }: Batchable, { areDeletionsTogether }: BatchRules): boolean {
  if (isDryRun === true) return true
  if (wish.kind === 'update_many' || wish.kind === 'delete_many' || wish.kind === 'undo') return true
  return wish.kind === 'delete' && !areDeletionsTogether
}

function mayEmptyRow(wish: Wish): boolean {
  return wish.kind === 'update' && wish.row.every(([, value]) => value === null || value === '')
}
