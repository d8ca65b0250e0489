import { hash } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Clock } from '../../clock.ts'
import type { Tables } from './schema.ts'
import type { SqlDatabase } from './sql-database.ts'
import { createSqlStore } from './sql-store.ts'

/** What a table must come after: the ones that its rows refer to. Each table is named, or the types do not fit. */
const copied: Record<Exclude<TableName, PassingTable>, readonly TableName[]> = {
  account: [],
  former_slug: [],
  credential: ['account'],
  sheet: ['account', 'credential'],
  api_key: ['account', 'sheet'],
  usage: ['account'],
  public_usage: ['account'],
  session: ['account'],
  sign_in_link: ['account'],
  connect_attempt: ['account'],
  operation: ['account', 'sheet'],
  journal_use: ['account'],
  access_token: ['credential'],
  owner: ['account'],
  usage_day: ['account', 'sheet'],
  latency_day: ['account', 'sheet'],
  provider_day: ['account', 'sheet'],
  sheet_activity: ['account', 'sheet'],
  recent_request: ['account', 'sheet'],
  audit_entry: ['account'],
  mail: ['account'],
  mail_link: ['account'],
  change_log: ['account', 'sheet'],
  change_state: ['sheet'],
  change_chunk: ['sheet'],
  change_text: ['sheet'],
  unnamed_text: ['sheet'],
  sheet_look: ['sheet'],
  change_operation: ['sheet'],
  form: ['account', 'sheet'],
  form_entry: ['form'],
  webhook: ['account', 'sheet'],
  webhook_delivery: ['webhook'],
  webhook_event: ['webhook'],
  webhook_told: ['webhook'],
  provider_proof: [],
}

/** Made anew there, or worth nothing a minute later. */
const passing = ['migration', 'lease', 'rate_window', 'shared_cell'] as const
type PassingTable = (typeof passing)[number]
type TableName = keyof Tables

export interface CopiedTable {
  table: string
  rows: number
}

/** Why nothing was copied. */
export type CopyRefusal = { inUse: number } | { notEmpty: string } | { differs: string }

const rowsTogether = 200

/**
 * Copies a whole store into an empty one, both of the newest make, in one transaction at each end: all of it or
 * nothing. What has arrived is then read back and held against what was sent, table by table.
 */
export async function copyStore(
  from: SqlDatabase,
  to: SqlDatabase,
  clock: Clock,
): Promise<CopiedTable[] | CopyRefusal> {
  const living = await createSqlStore(from, clock).livingInstances()
  if (living > 0) return { inUse: living }
  const order = inOrder()
  for (const table of order) {
    const found = await to.kysely
      .selectFrom(table)
      .select(({ lit }) => lit(1).as('one'))
      .limit(1)
      .execute()
    if (found.length > 0) return { notEmpty: table }
  }
  return from.kysely
    .transaction()
    .execute((source) =>
      to.kysely.transaction().execute(async (target) => {
        const tables: CopiedTable[] = []
        for (const table of order) {
          const sent = await copyTable(source, target, table)
          const arrived = await digestOf(target, table)
          if (sent.rows !== arrived.rows || sent.digest !== arrived.digest) throw new Differs(table)
          tables.push({ table, rows: sent.rows })
        }
        return tables
      }),
    )
    .catch((error: unknown) => {
      if (error instanceof Differs) return { differs: error.message }
      throw error
    })
}

/** Thrown, so that the transaction is taken back. */
class Differs extends Error {
  override readonly name = 'Differs'
}

function inOrder(): Exclude<TableName, PassingTable>[] {
  const names = Object.keys(copied) as (keyof typeof copied)[]
  const order: (keyof typeof copied)[] = []
  while (order.length < names.length) {
    const next = names.find(
      (name) => !order.includes(name) && copied[name].every((needed) => order.includes(needed as never)),
    )
    if (!next) throw new Error('The tables refer to each other in a ring')
    order.push(next)
  }
  return order
}

interface Digest {
  rows: number
  /** A digest that does not depend on the order of rows: the two engines sort text differently. */
  digest: bigint
}

type Row = Record<string, unknown>

async function copyTable(source: Kysely<Tables>, target: Kysely<Tables>, table: TableName): Promise<Digest> {
  const digest: Digest = { rows: 0, digest: 0n }
  let batch: Row[] = []
  // Not streamed: SQLite has one connection, and a cursor would keep it.
  for (const row of (await source.selectFrom(table).selectAll().execute()) as Row[]) {
    add(digest, row)
    batch.push(row)
    if (batch.length < rowsTogether) continue
    await target
      .insertInto(table)
      .values(batch as never)
      .execute()
    batch = []
  }
  if (batch.length > 0)
    await target
      .insertInto(table)
      .values(batch as never)
      .execute()
  return digest
}

async function digestOf(target: Kysely<Tables>, table: TableName): Promise<Digest> {
  const digest: Digest = { rows: 0, digest: 0n }
  for (const row of (await target.selectFrom(table).selectAll().execute()) as Row[]) add(digest, row)
  return digest
}

function add(digest: Digest, row: Row): void {
  const fields = Object.entries(row).toSorted(([one], [other]) => (one < other ? -1 : 1))
  digest.rows++
  digest.digest += BigInt(`0x${hash('sha256', JSON.stringify(fields))}`)
}
