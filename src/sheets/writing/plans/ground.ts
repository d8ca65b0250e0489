import type { Refusal } from '../../../errors.ts'
import type { UnknownFields } from '../../../store/sql/schema.ts'
import { createCellMapping, type GivenCell, type RowInput } from '../../rows/row-input.ts'
import type { Column } from '../../rows/table.ts'
import type { JudgedTab } from '../looks/judged-tab.ts'
import { bytesOfEmptyRow } from '../weighing.ts'
import { createKeyRule, type KeyRule, type KeySettings } from './key-rule.ts'

/** What orders are judged on. */
export interface Ground extends JudgedTab {
  toCells(row: RowInput): GivenCell[] | Refusal
  /** Reads cells for somebody who knows only these columns. */
  toCellsOf(columns: readonly Column[]): Ground['toCells']
  keyRule: KeyRule | null
  emptyRowBytes: number
}

export type JudgedSettings = KeySettings & { unknownFields: UnknownFields }

export function createGround(tab: JudgedTab, settings: JudgedSettings): Ground {
  const { columns, finder } = tab
  return {
    ...tab,
    toCells: createCellMapping(columns, settings.unknownFields),
    toCellsOf: (some) => createCellMapping(some, settings.unknownFields),
    keyRule: createKeyRule(settings, columns, finder),
    emptyRowBytes: bytesOfEmptyRow(columns),
  }
}
