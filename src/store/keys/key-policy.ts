/** What a publishable key may do in the one sheet that it is for. A key without one is secret, and bounded by its scope. */
export interface KeyPolicy {
  may: readonly PageRight[]
  /** `https://example.com`, or `https://*.example.com` for all below it; 'any' where the owner says so. */
  origins: 'any' | readonly string[]
  /** null = every column. */
  readColumns: readonly string[] | null
  /** null = those that it may read. */
  writeColumns: readonly string[] | null
  /** Filters as in a query string: rows that they leave out do not exist for the key. */
  where: string | null
  /** What always stands in rows that are added; the text `now()` is the time. */
  set: readonly SetValue[]
  /** In one answer. */
  maxRows: number
  /** From one visitor's address. */
  requestsPerMinute: number
}

/** Rows are read, or added; a publishable key never changes or deletes one. */
export type PageRight = 'read' | 'add'

export type SetValue = readonly [column: string, value: string | number | boolean]

const parsed = new Map<string, KeyPolicy>()
const maxParsed = 1_000

/** Parses the text in the store, which is looked up for every request; the same text is the same policy, and the same object. */
export function policyOf(text: string | null): KeyPolicy | null {
  if (text === null) return null
  const known = parsed.get(text)
  if (known) return known
  if (parsed.size >= maxParsed) parsed.clear()
  const policy = JSON.parse(text) as KeyPolicy
  parsed.set(text, policy)
  return policy
}

/** Members always in the same order, so that equal policies are equal texts. */
export function policyText({
  may,
  origins,
  readColumns,
  writeColumns,
  where,
  set,
  ...limits
}: KeyPolicy): string {
  const { maxRows, requestsPerMinute } = limits
  return JSON.stringify({ may, origins, readColumns, writeColumns, where, set, maxRows, requestsPerMinute })
}
