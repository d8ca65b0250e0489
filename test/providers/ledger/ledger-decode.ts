import type { Grid } from '../../../src/sheets/rows/grid.ts'

export function decodeLedger(bytes: Uint8Array): Grid {
  return { rows: (JSON.parse(Buffer.from(bytes).toString()) as Grid).rows }
}
