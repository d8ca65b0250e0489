import type { LoggedChange } from '../sheets/logged-change.ts'
import type { LongText } from './long-text.ts'

/** A change as it was read from the log. Texts of it that are very long are not: they stay in the store until they are told. */
export interface ReadChange {
  change: LoggedChange
  long?: LongTexts
}

/** Those that `change` is without. */
export type LongTexts = Partial<Record<LongName, LongText>>

export type LongName = (typeof longNames)[number]

/** The rows, and a key that is nearly all of its row. */
export const longNames = ['key', 'before', 'after'] as const

/** In characters, with what stays in the store. */
export function lengthOfText({ change, long }: ReadChange, name: LongName): number {
  return long?.[name]?.characters ?? change[name]?.length ?? 0
}

export function charactersOf(read: ReadChange): number {
  return lengthOfText(read, 'before') + lengthOfText(read, 'after') + 200
}
