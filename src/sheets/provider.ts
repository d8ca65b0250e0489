import type { Refusal } from '../errors.ts'
import type { Cell } from './grid.ts'

/**
 * Where spreadsheets live. A provider moves bytes and knows one kind of place; making rows of the bytes is a
 * decoder's work and happens in a worker. Both methods throw `ProviderFailure` when the place fails them.
 */
export interface Provider {
  /**
   * The whole tab as it is now. `knownVersion` is the version a former fetch gave: when the provider can tell that
   * nothing changed since, it answers 'unchanged' and moves no bytes.
   */
  fetch(location: string, knownVersion: string | null): Promise<Fetched | 'unchanged'>

  /**
   * Adds rows after the last row with data, all or none, durable when it resolves. Cells are given by position in
   * the sheet. 'conflict' when the spreadsheet is no longer the one that `version` names: nothing was written.
   * A refusal when this place cannot hold one of the values.
   */
  append(location: string, rows: Cell[][], version: string): Promise<'appended' | 'conflict' | Refusal>
}

export interface Fetched {
  bytes: Uint8Array
  version: string
  decoder: Decoder
}

/** A function `(bytes, options) → Grid` by name, so that a worker can load it. */
export interface Decoder {
  module: string
  name: string
  options: unknown
}
