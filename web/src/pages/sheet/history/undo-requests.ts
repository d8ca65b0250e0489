import type { CellView, SheetView } from '../../../../../src/dashboard/contract.ts'
import { askAsClient } from '../as-client.ts'
import { refusalIn } from '../row/row-requests.ts'

/** What an undo does, or would do. */
export interface Undone {
  changes: {
    kind: 'added' | 'updated' | 'deleted'
    row: number
    before: Record<string, CellView> | null
    after: Record<string, CellView> | null
  }[]
  warnings?: string[]
}

export function previewUndo(sheet: SheetView, operation: string): Promise<Undone> {
  return ask(sheet, operation, '?dry_run=true')
}

export function undoWrite({ sheet, operation }: { sheet: SheetView; operation: string }): Promise<Undone> {
  return ask(sheet, operation, '')
}

async function ask(sheet: SheetView, operation: string, query: string): Promise<Undone> {
  const path = `${sheet.paths.formA}/operations/${encodeURIComponent(operation)}/undo${query}`
  const got = await askAsClient({ slug: sheet.slug, method: 'POST', path, body: null })
  if (!got.response.ok) throw refusalIn(got)
  return JSON.parse(got.text) as Undone
}
