import type { Kysely } from 'kysely'
import { AccountFull } from '../../errors.ts'
import type { Tables } from '../sql/schema.ts'

/** Until the transaction ends nobody else can make anything for the account that is counted: a write, even where nothing changes, holds its row. */
export async function holdAccount(transaction: Kysely<Tables>, accountId: string): Promise<void> {
  await transaction
    .updateTable('account')
    .set((of) => ({ slug: of.ref('slug') }))
    .where('id', '=', accountId)
    .execute()
}

/** Throws where there are as many as there may be; `most`: null for any number. */
export async function holdRoom(
  transaction: Kysely<Tables>,
  accountId: string,
  most: number | null,
  countAll: () => Promise<number>,
): Promise<void> {
  if (most === null) return
  await holdAccount(transaction, accountId)
  if ((await countAll()) >= most) throw new AccountFull()
}

export async function countOfAccount(
  transaction: Kysely<Tables>,
  table: 'sheet' | 'form' | 'webhook',
  accountId: string,
): Promise<number> {
  const { count } = await transaction
    .selectFrom(table)
    .where('account_id', '=', accountId)
    .select((of) => of.fn.countAll<number | string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}
