import type { Clock } from '../../clock.ts'
import type { SqlDatabase } from '../sql/sql-database.ts'
import type { ProofStore } from './proofs.ts'

export function createProofQueries(database: SqlDatabase, clock: Clock): ProofStore {
  const { kysely } = database
  return {
    async saveProof(service, tried) {
      if (tried.length === 0) return
      const rows = tried.map(({ assumption, holds, saw }) => ({
        service,
        assumption,
        holds: holds ? 1 : 0,
        saw,
        tried_at_ms: clock.nowMs(),
      }))
      await kysely
        .insertInto('provider_proof')
        .values(rows)
        .onConflict((conflict) =>
          conflict.columns(['service', 'assumption']).doUpdateSet((of) => ({
            holds: of.ref('excluded.holds'),
            saw: of.ref('excluded.saw'),
            tried_at_ms: of.ref('excluded.tried_at_ms'),
          })),
        )
        .execute()
    },
    async proofOf(service) {
      const rows = await kysely
        .selectFrom('provider_proof')
        .where('service', '=', service)
        .selectAll()
        .orderBy('assumption')
        .execute()
      return rows.map(({ assumption, holds, saw, tried_at_ms }) => ({
        assumption,
        holds: holds === 1,
        saw,
        triedAtMs: tried_at_ms,
      }))
    },
  }
}
