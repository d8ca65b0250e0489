import type { SetValue } from '../keys/key-policy.ts'
import type { SealedSecret } from '../sealed-secret.ts'

/** The store's part for forms that fill sheets, and for what came by them and waits for its owner. */
export interface FormStore {
  /** Throws `AccountFull` where the account has so many. */
  createForm(form: NewForm, mostOfAccount?: number | null): Promise<FormRecord>
  findForm(formId: string): Promise<FormRecord | null>
  formsOf(accountId: string): Promise<FormRecord[]>
  /** The captcha's secret goes with the settings; left out, it stays. */
  changeForm(formId: string, change: Pick<NewForm, 'name' | 'settings' | 'captchaSecret'>): Promise<void>
  setFormOpen(formId: string, isOpen: boolean): Promise<void>
  /** With all that is held of it; how many entries that were. */
  deleteForm(formId: string): Promise<number>
  /** False where the form holds as much as it may, or is gone. What is held already under one of its names is not held again. */
  holdEntry(entry: NewEntry, mostOfForm: { entries: number; characters: number }): Promise<boolean>
  /** Oldest first. */
  heldEntries(formId: string): Promise<HeldEntry[]>
  /** What waits for the owner, of the account's forms, by their ids; those without any are left out. */
  heldCounts(accountId: string): Promise<ReadonlyMap<string, number>>
  findEntry(entryId: string): Promise<HeldEntry | null>
  /** From now on it is to be added to the sheet. */
  releaseEntry(entryId: string): Promise<void>
  /** All of a form that are not yet; how many they are. */
  releaseEntries(formId: string): Promise<number>
  /** The sheet did not take it: it waits for its owner again, under another id. */
  holdReleasedAgain(entryId: string, reason: HoldReason): Promise<void>
  deleteEntry(entryId: string): Promise<void>
  /** Entries of all forms but these, oldest first. */
  releasedEntries(most: number, exceptForms: readonly string[]): Promise<HeldEntry[]>
  /** Those whose captcha's secret another key has sealed. */
  formsNotUnderKey(keyId: string): Promise<FormRecord[]>
  /** Only while it is the one that the form has been found with. */
  resealForm(former: FormRecord, secret: SealedSecret): Promise<void>
}

export interface NewForm {
  /** Chosen by whoever seals something for it. */
  id?: string
  accountId: string
  sheetId: string
  name: string
  settings: FormSettings
  /** null = none. */
  captchaSecret?: SealedSecret | null
}

export interface FormRecord extends NewForm {
  id: string
  captchaSecret: SealedSecret | null
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
  /** Rows that all of them may add. */
  entriesPerHour: number
  /** What tells people from programs; null = nothing. */
  captcha: CaptchaSetting | null
}

export interface CaptchaSetting {
  provider: CaptchaProvider
  siteKey: string
}

export type CaptchaProvider = 'turnstile' | 'hcaptcha'

export interface FormField {
  column: string
  label: string
  /** Beside the label, for whoever fills it in; '' = nothing. */
  help: string
  kind: FieldKind
  isRequired: boolean
  /** What a field of kind `choice` offers. */
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

/** `unfit`: the sheet could not take it. */
export type HoldReason = 'honeypot' | 'too_quick' | 'unfit'
