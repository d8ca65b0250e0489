import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Point, StoreKind } from './point.ts'

/** What was measured last of each axis on each store; a run of one axis leaves the others as they were. */
export interface Measured {
  axis: string
  store: StoreKind
  /** The day, for people. */
  day: string
  points: Point[]
}

const recordFile = join(import.meta.dirname, '../growth.json')

export function readRecord(): Measured[] {
  try {
    return JSON.parse(readFileSync(recordFile, 'utf8'), nanOfNull) as Measured[]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** JSON has no NaN. */
function nanOfNull(key: string, value: unknown): unknown {
  return value === null && key !== 'storeCpuMicroseconds' ? Number.NaN : value
}

export function writeRecord(measured: readonly Measured[]): void {
  writeFileSync(recordFile, `${JSON.stringify(measured, threeDigits, 2)}\n`)
}

function threeDigits(key: string, value: unknown): unknown {
  return typeof value === 'number' && key !== 'at' ? Number(value.toPrecision(3)) : value
}
