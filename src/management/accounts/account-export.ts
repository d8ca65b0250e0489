import type { AccountRecord } from '../../store/accounts/accounts.ts'
import type { KeyRecord } from '../../store/keys/keys.ts'
import type { OwnerRecord } from '../../store/owners/owners.ts'
import type { SheetRecord } from '../../store/sheets/sheets.ts'
import type { UsageCount } from '../../store/usage/usage-figures.ts'
import type { WebhookRecord } from '../../store/webhooks/webhooks.ts'
import { otherKeys } from '../../usage/told-apart.ts'
import type { ConnectionStatus } from '../connections/owner-connection.ts'
import type { SheetPlace } from '../sheets/sheets.ts'

export interface AccountData {
  account: AccountRecord
  owner: OwnerRecord | null
  connections: readonly { provider: string; status: ConnectionStatus | null }[]
  sheets: readonly (SheetRecord & { place: SheetPlace })[]
  keys: readonly KeyRecord[]
  webhooks: readonly WebhookRecord[]
}

/** What is kept of an account but for its usage and the changes of its rows, for its owner to take along. Each field is named here, so that no secret slips in. */
export function exportAccount(
  { account, owner, connections, sheets, keys, webhooks }: AccountData,
  nowMs: number,
): object {
  const slugOf = new Map(sheets.map(({ id, slug }) => [id, slug]))
  return {
    exported_at: at(nowMs),
    account: {
      id: account.id,
      slug: account.slug,
      plan: account.plan,
      requests_per_minute: account.requestsPerMinute,
      requests_per_month: account.requestsPerMonth,
      created_at: at(account.createdAtMs),
    },
    owner: owner && {
      email: owner.email,
      email_verified_at: owner.emailVerifiedAtMs === null ? null : at(owner.emailVerifiedAtMs),
      alerts_by_email: owner.wantsAlerts,
      has_password: owner.passwordHash !== null,
      signs_in_with_google: owner.googleSubject !== null,
      created_at: at(owner.createdAtMs),
    },
    ...Object.fromEntries(connections.map(({ provider, status }) => [provider, status && access(status)])),
    sheets: sheets.map((sheet) => ({
      id: sheet.id,
      slug: sheet.slug,
      provider: sheet.provider,
      spreadsheet: sheet.place.words,
      access: sheet.access,
      accepts: sheet.accepts,
      paused: sheet.paused,
      cache_seconds: sheet.cacheSeconds,
      stale_if_error_seconds: sheet.staleIfErrorSeconds,
      unknown_fields: sheet.unknownFields,
      key_column: sheet.keyColumn,
      auto_key: sheet.autoKey,
      history_days: sheet.historyDays,
      watch_seconds: sheet.watchSeconds,
      created_at: at(sheet.createdAtMs),
    })),
    keys: keys.map((key) => ({
      id: key.id,
      name: key.name,
      mode: key.mode,
      scope: key.scope,
      sheet: key.sheetId === null ? null : (slugOf.get(key.sheetId) ?? null),
      shown: `${key.shownStart}…${key.shownEnd}`,
      created_at: at(key.createdAtMs),
      last_used_at: key.lastUsedAtMs === null ? null : at(key.lastUsedAtMs),
      revoked_at: key.revokedAtMs === null ? null : at(key.revokedAtMs),
    })),
    webhooks: webhooks.map((webhook) => ({
      id: webhook.id,
      sheet: webhook.sheetSlug,
      url: webhook.url,
      kinds: webhook.kinds,
      columns: webhook.columns,
      state: webhook.state,
      off_reason: webhook.offReason,
      created_at: at(webhook.createdAtMs),
    })),
  }
}

/** What clients asked, as JSON texts; there may be hundreds of thousands. */
export async function* exportUsage(
  usage: AsyncIterable<readonly UsageCount[]>,
  { sheets, keys }: Pick<AccountData, 'sheets' | 'keys'>,
): AsyncGenerator<string[]> {
  const slugOf = new Map(sheets.map(({ id, slug }) => [id, slug]))
  const nameOf = new Map([...keys.map(({ id, name }) => [id, name] as const), [otherKeys, 'Other keys']])
  for await (const counts of usage) {
    yield counts.map(({ day, sheetId, keyId, outcome, rowsFrom, requests }) =>
      JSON.stringify({
        day,
        sheet: slugOf.get(sheetId) ?? null,
        key: nameOf.get(keyId) ?? null,
        outcome,
        rows_from: rowsFrom || null,
        requests,
      }),
    )
  }
}

function access({ label, state, scopes, connectedAtMs }: ConnectionStatus): object {
  return { email: label, state, scopes, connected_at: at(connectedAtMs) }
}

function at(ms: number): string {
  return new Date(ms).toISOString()
}
