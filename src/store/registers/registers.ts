/**
 * The store's part for what instances change together all the time: texts, each replaced by whoever knows its latest
 * version. Time is the store's own.
 */
export interface RegisterStore {
  readRegister(name: string): Promise<StoredRegister>
  /** Puts `next` in the place of `knownVersion` (null: of nothing), or tells what is there instead. One atomic step. */
  swapRegister(
    name: string,
    knownVersion: string | null,
    next: { version: string; text: string },
    keepMs: number,
  ): Promise<{ isTaken: true; nowMs: number } | ({ isTaken: false } & StoredRegister)>
  forgetOldRegisters(): Promise<void>
}

export interface StoredRegister {
  /** Null where there is none. */
  version: string | null
  text: string
  nowMs: number
}
