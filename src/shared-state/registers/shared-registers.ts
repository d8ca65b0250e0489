/** Texts that instances replace one after the other: only whoever knows the latest version may put the next one. */
export interface SharedRegisters {
  readRegister(name: string): Promise<Register>
  /**
   * Puts `next`, if `knownVersion` is still there (null: nothing), and keeps it for `keepMs`. Else it tells what is
   * there instead. One atomic step.
   */
  swapRegister(name: string, knownVersion: string | null, next: NextRegister, keepMs: number): Promise<Swap>
}

export interface NextRegister {
  /** Never the same twice. */
  version: string
  text: string
}

export interface Register {
  /** Null where there is none. */
  version: string | null
  text: string
  /** By the clock of where it is kept. */
  nowMs: number
}

export type Swap = { isTaken: true; nowMs: number } | ({ isTaken: false } & Register)
