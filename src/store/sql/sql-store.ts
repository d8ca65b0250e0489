import type { Clock } from '../../clock.ts'
import { createAccountQueries } from '../accounts/account-queries.ts'
import { createAlertQueries } from '../alerts/alert-queries.ts'
import { createAuditQueries } from '../audit/audit-queries.ts'
import { createChangeLogQueries } from '../changes/change-log-queries.ts'
import { createChangeTexts } from '../changes/change-texts.ts'
import { createAccessTokenQueries } from '../credentials/access-token-queries.ts'
import { createCredentialQueries } from '../credentials/credential-queries.ts'
import { createFormQueries } from '../forms/form-queries.ts'
import { createKeyQueries } from '../keys/key-queries.ts'
import { newInstanceId } from '../leases/instance-id.ts'
import { createLeaseQueries } from '../leases/lease-queries.ts'
import { createLookQueries } from '../looks/look-queries.ts'
import { createMailQueries } from '../mail/mail-queries.ts'
import { createOperationQueries } from '../operations/operation-queries.ts'
import { createOwnerQueries } from '../owners/owner-queries.ts'
import { createProofQueries } from '../proofs/proof-queries.ts'
import { createRegisterQueries } from '../registers/register-queries.ts'
import { createSessionQueries } from '../sessions/session-queries.ts'
import { createSheetQueries } from '../sheets/sheet-queries.ts'
import type { Store } from '../store.ts'
import { createUsageFigureQueries } from '../usage/usage-figure-queries.ts'
import { createUsageQueries } from '../usage/usage-queries.ts'
import { createWebhookNewsQueries } from '../webhooks/webhook-news-queries.ts'
import { createWebhookQueries } from '../webhooks/webhook-queries.ts'
import { createWebhookSendingQueries } from '../webhooks/webhook-sending-queries.ts'
import { createWindowQueries } from '../windows/window-queries.ts'
import { createLookUps } from './look-ups.ts'
import type { SqlDatabase } from './sql-database.ts'

/** The store over any SQL engine: all it asks of one is in `SqlDatabase`. */
export function createSqlStore(database: SqlDatabase, clock: Clock): Store {
  const instanceId = newInstanceId()
  const texts = createChangeTexts(database)
  return {
    ...createLookUps(database),
    ...createAccountQueries(database, clock),
    ...createSheetQueries(database, clock),
    ...createKeyQueries(database, clock),
    ...createUsageQueries(database),
    ...createCredentialQueries(database, clock),
    ...createSessionQueries(database),
    ...createOwnerQueries(database, clock),
    ...createUsageFigureQueries(database),
    ...createOperationQueries(database, instanceId, texts),
    ...createAccessTokenQueries(database),
    ...createAuditQueries(database, clock),
    ...createMailQueries(database),
    ...createAlertQueries(database),
    ...createLeaseQueries(database, instanceId),
    ...createWindowQueries(database),
    ...createRegisterQueries(database),
    ...createChangeLogQueries(database, texts),
    ...createLookQueries(database),
    ...createFormQueries(database, clock),
    ...createProofQueries(database, clock),
    ...createWebhookQueries(database, clock),
    ...createWebhookSendingQueries(database, instanceId),
    ...createWebhookNewsQueries(database),
    async ping() {
      await database.kysely.selectFrom('migration').select('number').limit(1).execute()
      await database.checkWritable()
    },
    close: () => database.close(),
  }
}
