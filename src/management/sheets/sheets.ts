import type { Observe } from '../../reporting/observe.ts'
import type { Shares } from '../../shares/shares.ts'
import type { PlaceDescription, ProviderKinds } from '../../sheets/provider-kind.ts'
import type { SheetChange, SheetRecord } from '../../store/sheets/sheets.ts'
import type { SheetAccess } from '../../store/sql/schema.ts'
import type { Store } from '../../store/store.ts'
import type { NamedAccount } from '../accounts/accounts.ts'
import { problemWithSlug } from '../accounts/slug.ts'
import { Problem } from '../problem.ts'
import type { ChosenEncoding, Encodings } from './encodings.ts'
import type { KeyColumns } from './key-column.ts'

export type { SheetRecord }

export interface Sheets {
  connect(sheet: SheetToConnect): Promise<SheetRecord | Problem>
  find(account: NamedAccount, sheetSlug: string): Promise<SheetRecord | Problem>
  list(account: NamedAccount): Promise<SheetRecord[]>
  /** Which spreadsheet it is, for people. */
  describe(sheet: SheetRecord): SheetPlace
  setPaused(account: NamedAccount, sheetSlug: string, paused: boolean): Promise<SheetRecord | Problem>
  change(account: NamedAccount, sheetSlug: string, change: WishedChange): Promise<SheetRecord | Problem>
  /** What its texts are in, where that can be chosen. */
  encodingOf(sheet: SheetRecord): ChosenEncoding | null
  /** Keys for this sheet alone are revoked; the spreadsheet itself is not touched. */
  remove(account: NamedAccount, sheetSlug: string): Promise<SheetRecord | Problem>
  /** Whether the account may have one more; null when it may. It is looked at again when one is connected. */
  problemWithOneMore(account: NamedAccount): Promise<Problem | null>
  /** Whether a new sheet could have this slug; null when it could. */
  problemWithNewSlug(account: NamedAccount, sheetSlug: string): Promise<Problem | null>
}

/** `encoding`: by any name that people have for it; null = as the bytes tell. */
export type WishedChange = Omit<SheetChange, 'location'> & { encoding?: string | null }

/** `home`: what people call the provider. */
export interface SheetPlace extends PlaceDescription {
  home: string
}

export interface SheetToConnect {
  account: NamedAccount
  sheetSlug: string
  access: SheetAccess
  provider: string
  source: string
  location: string
  /** What opens it at the provider, where something must. */
  credentialId?: string | null
  /** An operator may give an account more sheets than its share. */
  isByOperator?: boolean
}

/** `cache_seconds` is 0 to 3,600 (docs/contract.md#freshness). */
const maxCacheSeconds = 3_600
const maxStaleSeconds = 86_400
const maxHistoryDays = 365
const watchSecondsBounds = { least: 5, most: 3_600 }

export interface SheetsParts {
  store: Store
  kinds: ProviderKinds
  shares: Pick<Shares, 'sheets'>
  keyColumns: KeyColumns
  encodings: Encodings
  observe: Observe
}

const noKeyColumn = 'keys are made for the key column, and this sheet has none: choose one first'

export function createSheets({ store, kinds, shares, keyColumns, encodings, observe }: SheetsParts): Sheets {
  return {
    async connect({ account, sheetSlug, credentialId = null, isByOperator = false, ...rest }) {
      const problem = problemWithSlug(sheetSlug)
      if (problem) return new Problem(problem, { field: 'slug' })
      const asked = { accountId: account.id, slug: sheetSlug, credentialId, ...rest }
      const sheet = await store.createSheet(asked, isByOperator ? null : shares.sheets)
      if (sheet === 'too_many') return tooMany(account.id)
      return sheet === 'slug_taken' ? slugTaken(account, sheetSlug) : sheet
    },
    async problemWithOneMore(account) {
      const { length } = await store.sheetsOf(account.id)
      return length < shares.sheets ? null : tooMany(account.id)
    },
    find,
    list: (account) => store.sheetsOf(account.id),
    describe({ provider, location }) {
      const kind = kinds.of(provider)
      return { home: kind.name, ...kind.describe(location) }
    },
    encodingOf: encodings.of,
    async change(account, sheetSlug, { encoding, ...change }) {
      const sheet = await find(account, sheetSlug)
      if (sheet instanceof Problem) return sheet
      const { cacheSeconds = 0, staleIfErrorSeconds = 0, historyDays = 0, slug = sheetSlug } = change
      const { watchSeconds = 0 } = change
      const problem = problemWithSlug(slug)
      if (problem) return new Problem(problem, { field: 'slug' })
      if (cacheSeconds > maxCacheSeconds)
        return new Problem(`rows can be cached for up to ${maxCacheSeconds} seconds`)
      if (staleIfErrorSeconds > maxStaleSeconds) {
        return new Problem(`stale rows can be served for up to ${maxStaleSeconds} seconds`)
      }
      if (historyDays > maxHistoryDays) {
        return new Problem(`changes can be kept for up to ${maxHistoryDays} days`)
      }
      const { least, most } = watchSecondsBounds
      if (watchSeconds !== 0 && (watchSeconds < least || watchSeconds > most)) {
        return new Problem(
          `a spreadsheet can be checked every ${least} to ${most} seconds, or 0: only while somebody follows its changes`,
        )
      }
      const keyColumn = await checkKeyColumn(sheet, change)
      if (keyColumn instanceof Problem) return keyColumn
      const location = encoding === undefined ? sheet.location : await encodings.locate(sheet, encoding)
      if (location instanceof Problem) return location
      const checked = {
        ...change,
        ...(keyColumn !== undefined && { keyColumn }),
        ...(location !== sheet.location && { location }),
      }
      if (change.autoKey === 'uuid' && (keyColumn === undefined ? sheet.keyColumn : keyColumn) === null)
        return new Problem(noKeyColumn, { field: 'autoKey' })
      const outcome = await store.changeSheet(sheet.id, checked)
      return outcome === 'slug_taken' ? slugTaken(account, slug) : { ...sheet, ...checked }
    },
    async remove(account, sheetSlug) {
      const sheet = await find(account, sheetSlug)
      if (!(sheet instanceof Problem)) await store.deleteSheet(sheet.id)
      return sheet
    },
    async problemWithNewSlug(account, sheetSlug) {
      const problem = problemWithSlug(sheetSlug)
      if (problem) return new Problem(problem, { field: 'slug' })
      const sheet = await find(account, sheetSlug)
      return sheet instanceof Problem ? null : slugTaken(account, sheetSlug)
    },
    async setPaused(account, sheetSlug, paused) {
      const sheet = await find(account, sheetSlug)
      if (sheet instanceof Problem) return sheet
      await store.setPaused(sheet.id, paused)
      return { ...sheet, paused }
    },
  }

  /** Undefined where it stays as it is. */
  async function checkKeyColumn(
    sheet: SheetRecord,
    { keyColumn }: SheetChange,
  ): Promise<string | null | undefined | Problem> {
    return typeof keyColumn === 'string' ? keyColumns.check(sheet, keyColumn) : keyColumn
  }

  async function find(account: NamedAccount, sheetSlug: string): Promise<SheetRecord | Problem> {
    const sheet = await store.findSheet(account.id, sheetSlug)
    return sheet ?? new Problem(`there is no sheet "${account.slug}/${sheetSlug}"`, { kind: 'not_found' })
  }

  function tooMany(accountId: string): Problem {
    observe({ event: 'share_used_up', share: 'sheets', accountId })
    return new Problem(`your account is limited to ${shares.sheets} sheets; disconnect one first`)
  }
}

function slugTaken(account: NamedAccount, sheetSlug: string): Problem {
  return new Problem(`there is already a sheet "${account.slug}/${sheetSlug}"`, {
    kind: 'taken',
    field: 'slug',
  })
}
