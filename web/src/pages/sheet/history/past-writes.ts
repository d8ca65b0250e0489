import type { PastChangeView } from '../../../../../src/dashboard/contract.ts'

/** Changes that belong together: those of one write, or what one look at the spreadsheet found. */
export interface PastWrite {
  id: string
  atMs: number
  operation: string | null
  keyName: string | null
  changes: PastChangeView[]
}

/** The newest first; within one, from the top down. */
export function pastWrites(changes: readonly PastChangeView[]): PastWrite[] {
  const writes: PastWrite[] = []
  for (const change of changes) {
    const { seq, atMs, operation, keyName } = change
    const last = writes.at(-1)
    const isSame = last && last.operation === operation && (operation !== null || last.atMs === atMs)
    if (isSame) last.changes.unshift(change)
    else writes.push({ id: `${operation ?? 'outside'} ${seq}`, atMs, operation, keyName, changes: [change] })
  }
  return writes
}

const words = {
  added: 'added',
  updated: 'changed',
  deleted: 'deleted',
} as const

/** "2 rows changed, 1 added". */
export function inShort(changes: readonly Pick<PastChangeView, 'kind'>[]): string {
  const parts = (['added', 'updated', 'deleted'] as const).flatMap((kind) => {
    const count = changes.filter((change) => change.kind === kind).length
    return count === 0 ? [] : `${count === 1 ? '1 row' : `${count} rows`} ${words[kind]}`
  })
  if (changes.some(({ kind }) => kind === 'columns_changed')) parts.push('columns changed')
  if (changes.some(({ kind }) => kind === 'reset')) parts.push('everything read again')
  return parts.join(', ')
}

/** The console's key is the owner at this dashboard. */
export function whoOf({ operation, keyName }: Pick<PastWrite, 'operation' | 'keyName'>): string {
  if (operation === null) return 'In the spreadsheet'
  if (keyName === null) return 'Without a key'
  return keyName.startsWith('Console') ? 'You, in the dashboard' : keyName
}
