import type { ShareName, Shares } from '../../shares/shares.ts'
import { keepAnswersMs } from '../../sheets/writing/claims/idempotency.ts'
import type { Store } from '../../store/store.ts'
import type { UsedUpShare, UsedUpShares } from '../../usage/used-up-shares.ts'
import { sessionLimits } from '../people/sign-in.ts'
import type { Uploads } from '../uploads/uploads.ts'

/** How much an account uses of those shares that last, and which of all it has used up lately. */
export interface ShareUse {
  of(accountId: string): Promise<UsedShare[]>
  /** As this server has seen it. */
  usedUpLately(accountId: string): UsedUpLately
}

export interface UsedUpLately {
  /** The latest first. */
  shares: UsedUpShare[]
  seenForMs: number
}

export interface UsedShare {
  share: LastingShare
  /** In the unit of the share. */
  used: number
  limit: number
}

type LastingShare = Extract<
  ShareName,
  'sheets' | 'upload_files' | 'upload_mb' | 'webhooks' | 'journal_mb' | 'history_mb' | 'sessions'
>

const mebibyte = 1024 * 1024

export function createShareUse(
  store: Pick<Store, 'sheetsOf' | 'webhooksOf' | 'keptAnswers' | 'keptChangesBytes' | 'countSessions'>,
  uploads: Pick<Uploads, 'held'> | null,
  shares: Shares,
  usedUp: Pick<UsedUpShares, 'of' | 'seenForMs'>,
): ShareUse {
  return {
    async of(accountId) {
      const [sheets, held, webhooks, kept, changesBytes, sessions] = await Promise.all([
        store.sheetsOf(accountId),
        uploads?.held(accountId),
        store.webhooksOf(accountId),
        store.keptAnswers(accountId, keepAnswersMs),
        store.keptChangesBytes(accountId),
        store.countSessions(accountId, sessionLimits),
      ])
      return [
        usedShare('sheets', sheets.length),
        ...(held
          ? [usedShare('upload_files', held.files), usedShare('upload_mb', held.bytes / mebibyte)]
          : []),
        usedShare('webhooks', webhooks.length),
        usedShare('journal_mb', kept.bytes / mebibyte),
        usedShare('history_mb', changesBytes / mebibyte),
        usedShare('sessions', sessions),
      ]
    },
    usedUpLately: (accountId) => ({ shares: usedUp.of(accountId), seenForMs: usedUp.seenForMs() }),
  }

  function usedShare(share: LastingShare, amount: number): UsedShare {
    return { share, used: amount, limit: shares[share] }
  }
}
