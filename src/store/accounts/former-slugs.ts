import type { Kysely } from 'kysely'
import type { Tables } from '../sql/schema.ts'
import { inMs, SlugReserved, type SqlDatabase } from '../sql/sql-database.ts'

const dayMs = 24 * 60 * 60_000
/** Long enough that whatever still asks at a former address has been noticed, or is forgotten. */
export const slugReservedMs = 90 * dayMs
/** Upper bound for one account: whoever renames again and again would keep addresses from others. */
export const maxFormerSlugs = 5

/**
 * Throws unless `accountId` may have the slug; to be called after it took the slug, in the same transaction. Another
 * account may be giving it up at the same time: whoever took it has waited for that, and finds the reservation only now.
 */
export async function takeSlugOn(
  transaction: Kysely<Tables>,
  database: Pick<SqlDatabase, 'nowMs'>,
  slug: string,
  accountId: string,
): Promise<void> {
  await transaction
    .deleteFrom('former_slug')
    .where('slug', '=', slug)
    .where((of) => of.or([of('account_id', '=', accountId), of('free_at_ms', '<=', database.nowMs())]))
    .execute()
  const reserved = await transaction
    .selectFrom('former_slug')
    .where('slug', '=', slug)
    .select('slug')
    .executeTakeFirst()
  if (reserved) throw new SlugReserved()
}

/** `accountId`: who may take it back; null for nobody. */
export async function reserveSlugOn(
  transaction: Kysely<Tables>,
  database: Pick<SqlDatabase, 'nowMs'>,
  slug: string,
  accountId: string | null,
): Promise<void> {
  // Those that are free again go now: no job is needed that could be forgotten.
  await transaction.deleteFrom('former_slug').where('free_at_ms', '<=', database.nowMs()).execute()
  const reservation = { account_id: accountId, free_at_ms: inMs(database.nowMs(), slugReservedMs) }
  await transaction
    .insertInto('former_slug')
    .values({ slug, ...reservation })
    .onConflict((conflict) => conflict.column('slug').doUpdateSet(reservation))
    .execute()
}

/** How many addresses are kept for the account, `slug` aside. */
export async function countFormerSlugsOn(
  transaction: Kysely<Tables>,
  database: Pick<SqlDatabase, 'nowMs'>,
  accountId: string,
  slug: string,
): Promise<number> {
  const { count } = await transaction
    .selectFrom('former_slug')
    .where('account_id', '=', accountId)
    .where('slug', '!=', slug)
    .where('free_at_ms', '>', database.nowMs())
    .select((of) => of.fn.countAll<number | string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}
