/** Texts that instances replace one after the other: only whoever knows the latest version may put the next one. */
export interface SharedCells {
  look(name: string): Promise<Cell>
  /**
   * Puts `next`, if `knownVersion` is still there (null: nothing), and keeps it for `keepMs`. Else it tells what is
   * there instead. One atomic step.
   */
  swap(name: string, knownVersion: string | null, next: NextCell, keepMs: number): Promise<Swap>
}

export interface NextCell {
  /** Never the same twice. */
  version: string
  text: string
}

export interface Cell {
  /** Null where there is none. */
  version: string | null
  text: string
  /** By the clock of where it is kept. */
  nowMs: number
}

export type Swap = { isTaken: true; nowMs: number } | ({ isTaken: false } & Cell)
