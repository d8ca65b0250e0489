import type { AutoKey, SheetAccepts, SheetAccess, UnknownFields } from '../sql/schema.ts'

/** The store's part for sheets: where the rows of an address are, and how they are served. */
export interface SheetStore {
  /** However many are made at once, with `most` the account never has more; null = any number. */
  createSheet(sheet: NewSheet, most?: number | null): Promise<SheetRecord | 'slug_taken' | 'too_many'>
  findSheet(accountId: string, slug: string): Promise<SheetRecord | null>
  sheetById(sheetId: string): Promise<SheetRecord | null>
  sheetsOf(accountId: string): Promise<SheetRecord[]>
  setPaused(sheetId: string, paused: boolean): Promise<void>
  /** All of it or nothing. */
  changeSheet(sheetId: string, change: SheetChange): Promise<'changed' | 'slug_taken'>
  /** Keys for this sheet alone are revoked with it. */
  deleteSheet(sheetId: string): Promise<void>
  /** Those of all accounts that are connected to this spreadsheet. */
  sheetsOfSource(source: string): Promise<SheetRecord[]>
  /**
   * The spreadsheet lies elsewhere from now on, and is the same: all of its sheets follow it, or none. Not while a write is on its way to
   * where it was (`being_written`), nor where a sheet is no longer as it was when it was looked up (`changed`).
   */
  relocateSheets(
    source: string,
    relocations: readonly Relocation[],
  ): Promise<'relocated' | 'being_written' | 'changed'>
  /** Counts a write to `source`: from now on no snapshot read before it is served. Returns when every sheet of it knows. */
  countWrite(source: string): Promise<void>
}

export interface SheetSettings {
  access: SheetAccess
  accepts: SheetAccepts
  cacheSeconds: number
  staleIfErrorSeconds: number
  unknownFields: UnknownFields
  /** By its name; null = rows have no names. */
  keyColumn: string | null
  autoKey: AutoKey
  /** 0 = no log of changes; what there was is deleted with that. */
  historyDays: number
  /** How often Rowport looks by itself; 0 = only for those who follow. */
  watchSeconds: number
}

/** `location`: the same spreadsheet, to be read in another way. From then on no snapshot of before is served. */
export type SheetChange = Partial<SheetSettings & { slug: string; paused: boolean; location: string }>

export interface Relocation {
  sheetId: string
  from: string
  to: string
}

export interface NewSheet {
  accountId: string
  slug: string
  provider: string
  source: string
  location: string
  /** A credential of the same account; null where the provider needs none. */
  credentialId: string | null
  access: SheetAccess
}

export interface SheetRecord extends NewSheet {
  id: string
  paused: boolean
  accepts: SheetAccepts
  cacheSeconds: number
  staleIfErrorSeconds: number
  unknownFields: UnknownFields
  keyColumn: string | null
  autoKey: AutoKey
  historyDays: number
  watchSeconds: number
  writeSeq: number
  createdAtMs: number
}
