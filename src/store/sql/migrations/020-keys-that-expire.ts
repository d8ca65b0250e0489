import type { Kysely } from 'kysely'

/** Keys of the console were told by having an end, which now others have too. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const keys = db as Kysely<{ api_key: { expires_at_ms: number | null; session_hash: string | null } }>
  await keys
    .updateTable('api_key')
    .set({ session_hash: '' })
    .where('expires_at_ms', 'is not', null)
    .where('session_hash', 'is', null)
    .execute()
}
