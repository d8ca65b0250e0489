import type { SheetState, SheetSummary } from '../../../../src/dashboard/contract.ts'
import { needsAttention } from '../../problems.ts'
import { naturally } from '../../ui/natural-order.ts'

export type SheetFilter = 'all' | 'attention' | 'public' | SheetState
export type SheetSort = 'attention' | 'name' | 'requests' | 'recent'

/** What stands in the URL of the list. */
export interface SheetsSearch {
  q?: string | undefined
  show?: SheetFilter | undefined
  sort?: SheetSort | undefined
}

export const sheetFilters: readonly { value: SheetFilter; title: string }[] = [
  { value: 'all', title: 'All sheets' },
  { value: 'attention', title: 'Needs attention' },
  { value: 'live', title: 'Live' },
  { value: 'paused', title: 'Paused' },
  { value: 'needs_reconnect', title: 'Reconnect needed' },
  { value: 'broken', title: 'Unreadable' },
  { value: 'public', title: 'Public sheets' },
]
export const sheetSorts: readonly { value: SheetSort; title: string }[] = [
  { value: 'attention', title: 'Problems first' },
  { value: 'name', title: 'By name' },
  { value: 'requests', title: 'Most requests' },
  { value: 'recent', title: 'Last request' },
]

export function sheetsSearchIn({ q, show, sort }: Record<string, unknown>): SheetsSearch {
  return {
    ...(q !== undefined && q !== '' && { q: String(q) }),
    ...(sheetFilters.some(({ value }) => value === show) && show !== 'all' && { show: show as SheetFilter }),
    ...(sheetSorts.some(({ value }) => value === sort) &&
      sort !== 'attention' && { sort: sort as SheetSort }),
  }
}

export function listed(
  sheets: readonly SheetSummary[],
  { q = '', show = 'all', sort = 'attention' }: SheetsSearch,
): SheetSummary[] {
  const wanted = q.trim().toLowerCase()
  return sheets
    .filter(({ slug, title }) => `${slug} ${title}`.toLowerCase().includes(wanted))
    .filter((sheet) => isMeant(sheet, show))
    .toSorted((one, other) => orders[sort](one, other) || naturally(one.slug, other.slug))
}

function isMeant(sheet: SheetSummary, show: SheetFilter): boolean {
  if (show === 'all') return true
  if (show === 'attention') return needsAttention(sheet)
  return show === 'public' ? sheet.access === 'public-read' : sheet.state === show
}

const orders: Record<SheetSort, (one: SheetSummary, other: SheetSummary) => number> = {
  attention: (one, other) => Number(needsAttention(other)) - Number(needsAttention(one)),
  name: () => 0,
  requests: (one, other) => other.requestsThisMonth - one.requestsThisMonth,
  recent: (one, other) => (other.lastRequestAtMs ?? 0) - (one.lastRequestAtMs ?? 0),
}
