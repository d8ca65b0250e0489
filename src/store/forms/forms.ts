import type { SetValue } from '../keys/key-policy.ts'

/** The store's part for forms that fill sheets, and for what came by them and waits for its owner. */
export interface FormStore {
  createForm(form: NewForm): Promise<FormRecord>
  findForm(formId: string): Promise<FormRecord | null>
  formsOf(accountId: string): Promise<FormRecord[]>
  changeForm(formId: string, change: Pick<NewForm, 'name' | 'settings'>): Promise<void>
  setFormOpen(formId: string, isOpen: boolean): Promise<void>
  /** With all that is held of it. */
  deleteForm(formId: string): Promise<void>
  /** False where the form holds as many as it may, or is gone. What is held already under one of its names is not held again. */
  holdEntry(entry: NewEntry, mostOfForm: number): Promise<boolean>
  /** Oldest first. */
  heldEntries(formId: string): Promise<HeldEntry[]>
  /** Of the account's forms, by their ids; those without any are left out. */
  heldCounts(accountId: string): Promise<ReadonlyMap<string, number>>
  findEntry(entryId: string): Promise<HeldEntry | null>
  /** From now on it is to be added to the sheet. */
  releaseEntry(entryId: string): Promise<void>
  deleteEntry(entryId: string): Promise<void>
  /** Of all forms, oldest first. */
  releasedEntries(most: number): Promise<HeldEntry[]>
}

export interface NewForm {
  accountId: string
  sheetId: string
  name: string
  settings: FormSettings
}

export interface FormRecord extends NewForm {
  id: string
  isOpen: boolean
  createdAtMs: number
}

export interface FormSettings {
  /** Above the fields; '' = nothing. */
  intro: string
  fields: readonly FormField[]
  /** On the page of thanks; '' = our own words. */
  thanks: string
  /** Where a browser goes afterwards; null = a page of thanks. */
  next: string | null
  /** A field that people do not see: whoever fills it in is none. */
  honeypot: string
  /** Whoever is quicker is none; 0 = anyone may be as quick as they like. */
  minSeconds: number
  set: readonly SetValue[]
  /** Pages that may show the form in a frame. */
  framedBy: readonly string[]
  /** Pages whose own HTML may send to it; empty = any. */
  origins: readonly string[]
  /** From one visitor's address. */
  entriesPerMinute: number
  /** From all of them. */
  entriesPerHour: number
}

export interface FormField {
  column: string
  label: string
  /** Beside the label, for whoever fills it in; '' = nothing. */
  help: string
  kind: FieldKind
  isRequired: boolean
  /** Of kind `choice`. */
  choices: readonly string[]
}

export type FieldKind = 'text' | 'long' | 'email' | 'number' | 'date' | 'checkbox' | 'choice'

export interface NewEntry {
  formId: string
  name: EntryName
  reason: HoldReason
  /** Column and value. */
  row: readonly (readonly [column: string, value: string | number | boolean])[]
}

/** What is sent again under the same name is the same entry. */
export interface EntryName {
  name: string
  /** Where names change with time: the one before, for as long as it still counts. */
  former?: { name: string; forMs: number }
}

export interface HeldEntry extends Omit<NewEntry, 'name'> {
  id: string
  /** null: it was held before entries had names. */
  name: string | null
  isReleased: boolean
  receivedAtMs: number
}

export type HoldReason = 'honeypot' | 'too_quick'
