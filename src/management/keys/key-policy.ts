import type { Provider } from '../../sheets/provider.ts'
import type { ProviderKinds } from '../../sheets/provider-kind.ts'
import type { Decoding } from '../../sheets/reading/decoding.ts'
import { type Column, positionOfColumn } from '../../sheets/rows/table.ts'
import type { KeyPolicy, SetValue } from '../../store/keys/key-policy.ts'
import type { SheetRecord } from '../../store/sheets/sheets.ts'
import { Problem } from '../problem.ts'
import { orProblem } from '../sheets/provider-problem.ts'

/** A policy as an owner wishes it; what is left out is as usual. */
export type PolicyWish = Pick<KeyPolicy, 'may' | 'origins'> & Partial<Omit<KeyPolicy, 'may' | 'origins'>>

const usualMaxRows = 100
const mostMaxRows = 10_000
const usualRequestsPerMinute = 60
const mostRequestsPerMinute = 10_000
const mostOrigins = 50
const mostCharacters = 2_000
/** The store reads it with every request, and owners are shown that of all their keys. */
const mostPolicyCharacters = 10_000

/** The wish as a policy, as far as it can be told without looking at the sheet. */
export function policyFor(wish: PolicyWish): KeyPolicy | Problem {
  const { readColumns = null, writeColumns = null, where = null, set = [] } = wish
  const { maxRows = usualMaxRows, requestsPerMinute = usualRequestsPerMinute } = wish
  const may = (['read', 'add'] as const).filter((right) => wish.may.includes(right))
  if (may.length === 0) return invalid('may', 'say whether the key may read rows, add rows, or both')
  const origins = wish.origins === 'any' ? wish.origins : originsIn(wish.origins)
  if (origins instanceof Problem) return origins
  if (!isBetween(maxRows, mostMaxRows))
    return invalid('maxRows', `the most rows in a response must be a whole number from 1 to ${mostMaxRows}`)
  if (!isBetween(requestsPerMinute, mostRequestsPerMinute))
    return invalid(
      'requestsPerMinute',
      `requests per minute must be a whole number from 1 to ${mostRequestsPerMinute}`,
    )
  if (readColumns?.length === 0) return invalid('readColumns', 'name at least one column, or leave it open')
  if (writeColumns?.length === 0) return invalid('writeColumns', 'name at least one column, or leave it open')
  const filters = where?.trim().replace(/^\?/, '') || null
  if ((filters?.length ?? 0) > mostCharacters)
    return invalid('where', `filters may have ${mostCharacters} characters`)
  const long = set.find(([, value]) => String(value).length > mostCharacters)
  if (long) return invalid('set', `the value for "${long[0]}" may have ${mostCharacters} characters`)
  return { may, origins, readColumns, writeColumns, where: filters, set, maxRows, requestsPerMinute }
}

function isBetween(number: number, most: number): boolean {
  return Number.isSafeInteger(number) && number >= 1 && number <= most
}

function originsIn(given: readonly string[]): string[] | Problem {
  if (given.length === 0)
    return invalid('origins', 'name at least one origin like https://example.com, or allow any')
  if (given.length > mostOrigins) return invalid('origins', `a key may have ${mostOrigins} origins`)
  const origins: string[] = []
  for (const text of given) {
    const origin = originOf(text)
    if (origin === null)
      return invalid(
        'origins',
        `"${text}" is no origin; write it like https://example.com or https://*.example.com, without a path`,
      )
    origins.push(origin)
  }
  return [...new Set(origins)]
}

/** As browsers send it: in small letters, without the usual port. null for what no page can have. */
export function originOf(text: string): string | null {
  const [, scheme, star = '', rest] = /^(https?:\/\/)(\*\.)?([^/*?#@\s]+)\/?$/i.exec(text.trim()) ?? []
  if (scheme === undefined || rest === undefined || !URL.canParse(scheme + rest)) return null
  const { protocol, host } = new URL(scheme + rest)
  return `${protocol}//${star}${host}`
}

function invalid(field: string, message: string): Problem {
  return new Problem(message, { field })
}

/** Holds a policy against the sheet that it is for. */
export interface PolicyColumns {
  /** With names as the sheet has them; a problem where it lacks one. */
  check(sheet: SheetRecord, policy: KeyPolicy): Promise<KeyPolicy | Problem>
}

export interface PolicyColumnsParts {
  providers: ReadonlyMap<string, Provider>
  kinds: ProviderKinds
  decoding: Decoding
  /** What is wrong with filters, in a sentence; null where nothing is. */
  problemWithFilters(where: string, columns: readonly Column[]): string | null
}

export function createPolicyColumns({
  providers,
  kinds,
  decoding,
  problemWithFilters,
}: PolicyColumnsParts): PolicyColumns {
  return {
    async check(sheet, policy) {
      const provider = providers.get(sheet.provider)
      if (!provider) throw new Error(`There is no provider "${sheet.provider}"`)
      const wish = { values: 'typed', knownVersion: null } as const
      const columns = await orProblem(kinds.of(sheet.provider), async () => {
        const decoded = await decoding.decode(sheet.accountId, (turn) => provider.fetch(sheet, wish, turn))
        if (decoded === 'unchanged') throw new Error(`The provider "${sheet.provider}" gave no bytes`)
        return decoded.snapshot.columns
      })
      if (columns instanceof Problem) return columns
      const readColumns = namesIn('readColumns', policy.readColumns, columns)
      if (readColumns instanceof Problem) return readColumns
      const writeColumns = namesIn('writeColumns', policy.writeColumns, columns)
      if (writeColumns instanceof Problem) return writeColumns
      const filters = policy.where === null ? null : problemWithFilters(policy.where, columns)
      if (filters !== null) return invalid('where', filters)
      const setNames = namesIn(
        'set',
        policy.set.map(([name]) => name),
        columns,
      )
      if (setNames instanceof Problem) return setNames
      const set: SetValue[] = policy.set.map(([name, value], at) => [setNames?.[at] ?? name, value])
      const known = { ...policy, readColumns, writeColumns, set }
      if (JSON.stringify(known).length > mostPolicyCharacters)
        return new Problem('this is too much to keep with a key: name fewer columns, or leave them open')
      return known
    },
  }
}

function namesIn(
  field: string,
  names: readonly string[] | null,
  columns: readonly Column[],
): string[] | null | Problem {
  if (names === null) return null
  const found: string[] = []
  for (const name of names) {
    const at = positionOfColumn(columns, name)
    const key = at === null ? undefined : columns[at]?.key
    if (key === undefined) {
      const shown = columns.slice(0, 20).map((column) => `"${column.key}"`)
      return invalid(field, `the sheet has no column "${name}"; there are ${shown.join(', ')}`)
    }
    found.push(key)
  }
  return found
}
