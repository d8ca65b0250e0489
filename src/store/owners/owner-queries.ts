import type { Kysely, Selectable } from 'kysely'
import type { Clock } from '../../clock.ts'
import { GoneMeanwhile } from '../../errors.ts'
import { insertAccountOn, toAccount } from '../accounts/account-queries.ts'
import { countFormerSlugsOn, maxFormerSlugs, reserveSlugOn, takeSlugOn } from '../accounts/former-slugs.ts'
import { newId } from '../new-id.ts'
import { emptySheets } from '../sheets/emptying-sheets.ts'
import { deleteSheetOf, deleteSheetsOn } from '../sheets/sheet-queries.ts'
import type { MailLinkKind, OwnerTable, Tables } from '../sql/schema.ts'
import { deleteBesideOthers, inMs, type SqlDatabase, unlessTaken } from '../sql/sql-database.ts'
import { forgetUsageOf } from '../usage/usage-figure-queries.ts'
import { deleteWebhooksOn } from '../webhooks/webhook-queries.ts'
import type { NewOwner, OwnerRecord, OwnerStore, PasswordChange } from './owners.ts'

export function createOwnerQueries(database: SqlDatabase, clock: Clock): OwnerStore {
  const { kysely } = database
  return {
    async signUp({ slug, plan, sessionHash, ...owner }) {
      // PostgreSQL gives the whole transaction up at the first value that is taken, so what it was is remembered.
      let taken: 'slug_taken' | 'email_taken' = 'slug_taken'
      const made = await unlessTaken(database, () =>
        kysely.transaction().execute(async (transaction) => {
          const fresh = { id: newId('acc'), slug, plan, created_at_ms: clock.nowMs() }
          const account = await insertAccountOn(transaction, database, fresh)
          taken = 'email_taken'
          const record = await insertOwner(transaction, { accountId: account.id, ...owner })
          await insertSession(transaction, sessionHash, account.id)
          return { account, owner: record }
        }),
      )
      return made === 'slug_taken' ? taken : made
    },
    async createOwner(owner) {
      const made = await unlessTaken(database, () => insertOwner(kysely, owner))
      return made === 'slug_taken' ? 'email_taken' : made
    },
    ownerOf: (accountId) => ownerWhere('account_id', accountId),
    ownerByEmail: (email) => ownerWhere('email', email),
    ownerByGoogle: (subject) => ownerWhere('google_subject', subject),
    async setPassword(ownerId, change) {
      return (await replacePassword(kysely, ownerId, change)) !== null
    },
    async createSessionByPassword(sessionHash, ownerId, change) {
      return kysely.transaction().execute(async (transaction) => {
        // A write even where nothing changes: it holds the owner's row, so that a change of the password comes wholly
        // before this session, which is then not made, or wholly after it, and ends it.
        const accountId = await replacePassword(transaction, ownerId, change)
        if (accountId === null) return false
        await insertSession(transaction, sessionHash, accountId)
        return true
      })
    },
    async setGoogleSubject(ownerId, subject) {
      const outcome = await unlessTaken(database, async () => {
        await kysely.updateTable('owner').set({ google_subject: subject }).where('id', '=', ownerId).execute()
        return 'set'
      })
      return outcome === 'set'
    },

    async setEmail(ownerId, email) {
      const outcome = await unlessTaken(database, () =>
        kysely.transaction().execute(async (transaction) => {
          const row = await transaction
            .updateTable('owner')
            .set({ email, email_verified_at_ms: null })
            .where('id', '=', ownerId)
            .returning('account_id')
            .executeTakeFirst()
          if (!row) throw new GoneMeanwhile()
          await transaction.deleteFrom('mail_link').where('account_id', '=', row.account_id).execute()
          return 'set' as const
        }),
      )
      return outcome === 'set' ? 'set' : 'email_taken'
    },
    async setAlerts(ownerId, isWanted) {
      await kysely.transaction().execute(async (transaction) => {
        const row = await transaction
          .updateTable('owner')
          .set({ alerts: isWanted ? 1 : 0 })
          .where('id', '=', ownerId)
          .returning('account_id')
          .executeTakeFirst()
        if (!row || !isWanted) return
        // That a sheet recovered while nobody wanted to hear of it is no news any more.
        await transaction
          .updateTable('sheet_activity')
          .set({ told_broken: 0 })
          .where('failure_reason', 'is', null)
          .where('sheet_id', 'in', (of) =>
            of.selectFrom('sheet').where('account_id', '=', row.account_id).select('id'),
          )
          .execute()
      })
    },
    async createMailLink({ hash, accountId, kind, email }, lifeMs) {
      await kysely.deleteFrom('mail_link').where('expires_at_ms', '<=', database.nowMs()).execute()
      await kysely
        .insertInto('mail_link')
        .values({
          hash,
          account_id: accountId,
          kind,
          email,
          expires_at_ms: inMs(database.nowMs(), lifeMs),
        })
        .execute()
    },
    async isMailLinkGood(hash, kind) {
      const row = await kysely
        .selectFrom('mail_link')
        .where('hash', '=', hash)
        .where('kind', '=', kind)
        .where('expires_at_ms', '>', database.nowMs())
        .select('hash')
        .executeTakeFirst()
      return row !== undefined
    },
    async verifyEmail(hash) {
      return kysely.transaction().execute(async (transaction) => {
        const link = await takeMailLink(transaction, hash, 'verify')
        return link && ownerAtAddress(transaction, link, {})
      })
    },
    async resetPassword(hash, { passwordHash, sessionHash }) {
      return kysely.transaction().execute(async (transaction) => {
        const link = await takeMailLink(transaction, hash, 'reset')
        const owner = link && (await ownerAtAddress(transaction, link, { password_hash: passwordHash }))
        if (!owner) return null
        const { accountId } = owner
        // A mail that was asked for before and lies in the same box must not undo what was just chosen.
        await transaction
          .deleteFrom('mail_link')
          .where('account_id', '=', accountId)
          .where('kind', '=', 'reset')
          .execute()
        await insertSession(transaction, sessionHash, accountId)
        return owner
      })
    },

    async accountById(accountId) {
      const row = await kysely
        .selectFrom('account')
        .where('id', '=', accountId)
        .selectAll()
        .executeTakeFirst()
      return row ? toAccount(row) : null
    },
    async renameAccount(accountId, slug) {
      return unlessTaken(database, () =>
        kysely.transaction().execute(async (transaction) => {
          const former = await lockAccountSlug(transaction, accountId)
          if (former === null) throw new GoneMeanwhile()
          if (former === slug) return 'renamed' as const
          const reserved = await countFormerSlugsOn(transaction, database, accountId, slug)
          if (reserved >= maxFormerSlugs) return 'too_often' as const
          await transaction.updateTable('account').set({ slug }).where('id', '=', accountId).execute()
          await takeSlugOn(transaction, database, slug, accountId)
          await reserveSlugOn(transaction, database, former, accountId)
          return 'renamed' as const
        }),
      )
    },
    async deleteAccount(accountId) {
      const sheets = await kysely
        .selectFrom('sheet')
        .where('account_id', '=', accountId)
        .select('id')
        .execute()
      await emptySheets(
        database,
        sheets.map(({ id }) => id),
      )
      // Each by itself: whoever logs for one of them holds its log before its account, and would wait for this in a ring.
      for (const { id } of sheets) await deleteSheetOf(database, clock, id)
      await forgetUsageOf(database, accountId)
      await deleteBesideOthers(database, () =>
        kysely.transaction().execute(async (transaction) => {
          const slug = await lockAccountSlug(transaction, accountId)
          if (slug === null) return
          // Another slug is another key: PostgreSQL lets nothing more be added to the account from here on, so that its end
          // does not fail because of something that came meanwhile.
          await transaction
            .updateTable('account')
            .set({ slug: accountId })
            .where('id', '=', accountId)
            .execute()
          await reserveSlugOn(transaction, database, slug, null)
          await transaction
            .updateTable('former_slug')
            .set({ account_id: null })
            .where('account_id', '=', accountId)
            .execute()
          await deleteAccountOn(transaction, accountId)
        }),
      )
    },
  }

  async function insertOwner(
    on: Pick<Kysely<Tables>, 'insertInto'>,
    {
      accountId,
      email,
      passwordHash,
      googleSubject,
      isEmailVerified = false,
    }: NewOwner & { accountId: string },
  ): Promise<OwnerRecord> {
    const row = await on
      .insertInto('owner')
      .values({
        id: newId('own'),
        account_id: accountId,
        email,
        password_hash: passwordHash,
        google_subject: googleSubject,
        created_at_ms: clock.nowMs(),
        email_verified_at_ms: isEmailVerified ? clock.nowMs() : null,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    return toOwner(row)
  }

  async function insertSession(on: Kysely<Tables>, idHash: string, accountId: string): Promise<void> {
    const nowMs = database.nowMs()
    await on
      .insertInto('session')
      .values({ id_hash: idHash, account_id: accountId, created_at_ms: nowMs, last_seen_at_ms: nowMs })
      .execute()
  }

  async function takeMailLink(
    transaction: Kysely<Tables>,
    hash: string,
    kind: MailLinkKind,
  ): Promise<{ account_id: string; email: string } | null> {
    const row = await transaction
      .deleteFrom('mail_link')
      .where('hash', '=', hash)
      .where('kind', '=', kind)
      .where('expires_at_ms', '>', database.nowMs())
      .returning(['account_id', 'email'])
      .executeTakeFirst()
    return row ?? null
  }

  /** Whoever followed a link from a mail has shown that the address is theirs; null when they have another by now. */
  async function ownerAtAddress(
    transaction: Kysely<Tables>,
    { account_id, email }: { account_id: string; email: string },
    change: { password_hash?: string },
  ): Promise<OwnerRecord | null> {
    const row = await transaction
      .updateTable('owner')
      .set((of) => ({
        ...change,
        email_verified_at_ms: of.fn.coalesce('email_verified_at_ms', of.val(clock.nowMs())),
      }))
      .where('account_id', '=', account_id)
      .where('email', '=', email)
      .returningAll()
      .executeTakeFirst()
    return row ? toOwner(row) : null
  }

  async function ownerWhere(
    column: 'account_id' | 'email' | 'google_subject',
    value: string,
  ): Promise<OwnerRecord | null> {
    const row = await kysely.selectFrom('owner').where(column, '=', value).selectAll().executeTakeFirst()
    return row ? toOwner(row) : null
  }
}

/** A write that changes nothing: it holds the row, so that of two at once each sees, and gives up, a slug of its own. */
async function lockAccountSlug(transaction: Kysely<Tables>, accountId: string): Promise<string | null> {
  const row = await transaction
    .updateTable('account')
    .set((of) => ({ plan: of.ref('plan') }))
    .where('id', '=', accountId)
    .returning('slug')
    .executeTakeFirst()
  return row?.slug ?? null
}

/** The account of the owner; null when the password is no longer `from`. */
async function replacePassword(
  on: Kysely<Tables>,
  ownerId: string,
  { from, to }: PasswordChange,
): Promise<string | null> {
  const row = await on
    .updateTable('owner')
    .set({ password_hash: to })
    .where('id', '=', ownerId)
    .where('password_hash', from === null ? 'is' : '=', from)
    .returning('account_id')
    .executeTakeFirst()
  return row?.account_id ?? null
}

/** Deletes in an order in which nothing refers to what is gone already. */
async function deleteAccountOn(transaction: Kysely<Tables>, accountId: string): Promise<void> {
  const sheets = await transaction
    .selectFrom('sheet')
    .where('account_id', '=', accountId)
    .select('id')
    .execute()
  await transaction.deleteFrom('api_key').where('account_id', '=', accountId).execute()
  const webhooks = await transaction
    .selectFrom('webhook')
    .where('account_id', '=', accountId)
    .select('id')
    .execute()
  await deleteWebhooksOn(
    transaction,
    webhooks.map(({ id }) => id),
  )
  await deleteSheetsOn(
    transaction,
    sheets.map(({ id }) => id),
  )
  await transaction
    .deleteFrom('access_token')
    .where('credential_id', 'in', (of) =>
      of.selectFrom('credential').where('account_id', '=', accountId).select('id'),
    )
    .execute()
  for (const table of [
    'operation',
    'journal_use',
    'credential',
    'session',
    'sign_in_link',
    'connect_attempt',
    'usage',
    'public_usage',
    'usage_day',
    'latency_day',
    'audit_entry',
    'mail',
    'mail_link',
    'owner',
  ] as const) {
    await transaction.deleteFrom(table).where('account_id', '=', accountId).execute()
  }
  await transaction.deleteFrom('account').where('id', '=', accountId).execute()
}

function toOwner(row: Selectable<OwnerTable>): OwnerRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    email: row.email,
    passwordHash: row.password_hash,
    googleSubject: row.google_subject,
    createdAtMs: row.created_at_ms,
    emailVerifiedAtMs: row.email_verified_at_ms,
    wantsAlerts: row.alerts === 1,
  }
}
