/**
 * What one instance has read of a sheet, for the others, so that reads at the provider do not grow with the number of
 * instances. What the bytes hold is the reader's business. Nothing here is a promise: whoever gets nothing, or fails to
 * ask, reads for itself.
 */
export interface SharedSnapshots {
  /** Says what is there, no older than `maxAgeMs`; where there is nothing, who reads. One atomic step. */
  ask(name: string, maxAgeMs: number, readForMs: number): Promise<SharedAnswer>
  /** Read so long ago, and kept for so long from now. One that is newer stays. */
  put(name: string, bytes: Uint8Array, ageMs: number, keepMs: number): Promise<void>
  /** For whoever was told to read, when that is over: the others need not wait any more. */
  endTurn(name: string, turn: string): Promise<void>
}

export type SharedAnswer =
  | { copy: Uint8Array; ageMs: number }
  /** Nobody reads it: whoever hears this does, and the others wait. */
  | { turn: string }
  /** Another instance is reading. */
  | 'wait'
