import type { Wish, WriteOrder } from './order.ts'

const maxOrders = 200
const maxRows = 1_000
const maxBytes = 1_500_000

type Batchable = Pick<WriteOrder, 'sheet' | 'wish' | 'bytes'>

/**
 * How many of the orders that wait, from the first on, can go to the provider together. Each must mean the same there
 * as it would alone, after those before it: so a deletion, which renumbers the rows below, goes alone, and whatever
 * looks at what another one of the batch has made waits for the next.
 */
export function batchLength(waiting: readonly Batchable[], isHeaderEnough: boolean): number {
  const [first] = waiting
  if (!first) return 0
  if (first.wish.kind === 'delete') return 1
  // A header alone is cheaper to read than the whole tab, but says nothing about rows.
  const isHeaderBatch = isHeaderEnough && first.wish.kind === 'add'
  const updatedRows = new Set<number>()
  let rows = 0
  let bytes = 0
  for (const [at, { sheet, wish, bytes: size }] of waiting.entries()) {
    rows += wish.kind === 'add' ? wish.rows.length : 1
    bytes += size
    const isTooMuch = at >= maxOrders || rows > maxRows || bytes > maxBytes
    if (at > 0 && (isTooMuch || sheet.id !== first.sheet.id)) return at
    if (wish.kind === 'delete' || (isHeaderBatch && wish.kind !== 'add')) return at
    if (wish.kind !== 'update') continue
    if (wish.isRowAsExpected && updatedRows.has(wish.rowNumber)) return at
    updatedRows.add(wish.rowNumber)
    // If that was the last row with data, there is one row less for those who follow.
    if (mayEmptyRow(wish)) return at + 1
  }
  return waiting.length
}

function mayEmptyRow(wish: Wish): boolean {
  return wish.kind === 'update' && wish.row.every(([, value]) => value === null || value === '')
}
