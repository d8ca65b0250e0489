import type { Clock } from '../clock.ts'
import type { GoogleSetting, MailSetting, StoreSetting } from '../config.ts'
import { provenService, switchedOffBy } from '../providers/google/prove/standing.ts'
import type { SwitchedOff } from '../sheets/proof.ts'
import type { StoreInspection } from '../store/sql/inspection.ts'
import { inspectSqlite } from '../store/sql/sqlite/inspect-sqlite.ts'

export interface GoogleStanding {
  /** null: never. */
  triedAtMs: number | null
  off: SwitchedOff[]
}

const googleApi = 'https://sheets.googleapis.com'
/** Somebody waits at a terminal. */
const googleMs = 5_000

/** Names the adapters for those who only look, and change nothing. */
export interface ServerInspection {
  store(setting: StoreSetting): Promise<StoreInspection & { aheadMs: number | null }>
  redis(url: string): Promise<{ aheadMs: number }>
  /** What is switched off at Google by what was found there, and what was tried; `proofs`: of the store. */
  google(
    setting: Pick<GoogleSetting, 'endpoint' | 'areWritesOff'>,
    proofs: StoreInspection['proofs'],
  ): GoogleStanding
  /** By its refusal of a request without a key; it throws where Google cannot be reached. */
  googleClock(setting: Pick<GoogleSetting, 'endpoint'>): Promise<{ aheadMs: number }>
  /** Why no mail could be sent; null when it could. */
  mail(setting: MailSetting): Promise<string | null>
}

export function createInspection(clock: Clock): ServerInspection {
  return {
    async store(setting) {
      if (setting.kind === 'sqlite') return { ...inspectSqlite(setting.path), aheadMs: null }
      const { inspectPostgres } = await import('../store/sql/postgres/inspect-postgres.ts')
      const inspected = await inspectPostgres(setting.url)
      const { serverMs } = inspected
      return { ...inspected, aheadMs: serverMs === null ? null : serverMs - clock.nowMs() }
    },
    async redis(url) {
      const { timeOfRedis } = await import('../shared-state/redis/inspect-redis.ts')
      const serverMs = await timeOfRedis(url)
      return { aheadMs: serverMs - clock.nowMs() }
    },
    google({ endpoint, areWritesOff }, proofs) {
      const own = proofs.filter(({ service }) => service === provenService(endpoint))
      const triedAtMs = own.length === 0 ? null : Math.max(...own.map((proof) => proof.triedAtMs))
      return { triedAtMs, off: switchedOffBy(own, areWritesOff) }
    },
    async googleClock({ endpoint }) {
      const signal = AbortSignal.timeout(googleMs)
      const { headers, body } = await fetch(`${endpoint ?? googleApi}/v4/spreadsheets/none`, { signal })
      await body?.cancel()
      return { aheadMs: Date.parse(headers.get('date') ?? '') - clock.nowMs() }
    },
    async mail(setting) {
      const { createSmtpTransport } = await import('../mail/smtp/smtp-transport.ts')
      return createSmtpTransport(setting).check()
    },
  }
}
