import type { RowAsRead } from '../../change.ts'
import type { Cell } from '../../rows/grid.ts'
import type { Column } from '../../rows/table.ts'

export function cellsAsRead(columns: readonly Column[], json: string): RowAsRead {
  const cells = JSON.parse(json) as Record<string, Cell>
  const row: (Cell | undefined)[] = []
  for (const { key, index } of columns) row[index] = cells[key]
  return row
}
