import type { ShareName, Shares } from '../../shares/shares.ts'
import { keepAnswersMs } from '../../sheets/writing/idempotency.ts'
import type { Store } from '../../store/store.ts'
import { sessionLimits } from '../people/sign-in.ts'
import type { Uploads } from '../uploads/uploads.ts'

/** How much an account uses of those shares that last: what passes in a moment is told when it is refused. */
export interface ShareUse {
  of(accountId: string): Promise<UsedShare[]>
}

export interface UsedShare {
  share: LastingShare
  /** In the unit of the share. */
  used: number
  limit: number
}

type LastingShare = Extract<ShareName, 'sheets' | 'upload_files' | 'upload_mb' | 'journal_mb' | 'sessions'>

const mebibyte = 1024 * 1024

export function createShareUse(
  store: Pick<Store, 'sheetsOf' | 'keptAnswers' | 'countSessions'>,
  uploads: Pick<Uploads, 'held'> | null,
  shares: Shares,
): ShareUse {
  return {
    async of(accountId) {
      const [sheets, held, kept, sessions] = await Promise.all([
        store.sheetsOf(accountId),
        uploads?.held(accountId),
        store.keptAnswers(accountId, keepAnswersMs),
        store.countSessions(accountId, sessionLimits),
      ])
      return [
        usedShare('sheets', sheets.length),
        ...(held
          ? [usedShare('upload_files', held.files), usedShare('upload_mb', held.bytes / mebibyte)]
          : []),
        usedShare('journal_mb', kept.bytes / mebibyte),
        usedShare('sessions', sessions),
      ]
    },
  }

  function usedShare(share: LastingShare, amount: number): UsedShare {
    return { share, used: amount, limit: shares[share] }
  }
}
