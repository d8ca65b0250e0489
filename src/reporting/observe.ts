import type { ShareName } from '../shares/shares.ts'

/**
 * Everything worth reporting, as one union. Code says what happened; log and metrics listen and each keeps what it
 * needs. A field here is a name, a number or an id: there is no room for a URL, a header, a key or a cell, so a
 * secret cannot be reported by mistake.
 */
export type Observation =
  | { event: 'server_listening'; host: string; port: number; version: string }
  | { event: 'server_draining'; signal: string }
  | { event: 'server_stopped'; openConnections: number }
  | { event: 'store_made'; newestMigration: number }
  | { event: 'migration_applied'; number: number; name: string }
  | {
      event: 'request_answered'
      operation: Operation
      form: 'a' | 'b' | 'none'
      method: string
      status: number
      code: string | null
      /** Where the rows came from; null when none were read. */
      rowsFrom: RowsFrom | null
      durationMs: number
      /** Whose request it was; all null for a stranger's. */
      accountId: string | null
      sheetId: string | null
      keyId: string | null
    }
  | { event: 'request_unreadable'; code: string; reason: string }
  | { event: 'malfunction'; reference: string; operation: Operation; error: unknown }
  | {
      event: 'sheet_fetched'
      sheetId: string
      provider: string
      outcome: 'loaded' | 'unchanged'
      rows: number
      bytes: number
      durationMs: number
    }
  | {
      event: 'provider_failed'
      sheetId: string
      provider: string
      action: 'read' | 'write'
      reason: string
      cause: unknown
    }
  /** One write at the provider, and how many rows of how many requests were in it. */
  | {
      event: 'rows_written'
      sheetId: string
      provider: string
      requests: number
      added: number
      updated: number
      deleted: number
      durationMs: number
    }
  /** `bodyBytes`: what was made of snapshots and is kept beside them, compressed lists above all. */
  | { event: 'snapshots_held'; sheets: number; bytes: number; bodyBytes: number }
  /** To make room for others. */
  | { event: 'snapshot_dropped'; bytes: number }
  | { event: 'decoder_lost'; error: unknown }
  | {
      event: 'provider_called'
      provider: string
      /** What of the provider's was called, such as `sheets` or `drive`. */
      service: string
      kind: 'read' | 'write'
      /** null when no answer came. */
      status: number | null
      durationMs: number
    }
  /** A ration is used up: by our own count, or by the provider's, which others spend from as well. */
  | {
      event: 'provider_rationed'
      provider: string
      kind: 'read' | 'write'
      per: 'user' | 'project'
      by: 'budget' | 'provider'
    }
  /**
   * A provider failed again and again for one owner and is left alone for a moment. `credentialId`: the account's id, where it
   * asks without a credential.
   */
  | { event: 'provider_rested'; provider: string; credentialId: string; forMs: number }
  /**
   * Somebody has all that one may take of what all share, and was refused more of it, went without, or lost some of it that was
   * older; null for a stranger.
   */
  | { event: 'share_used_up'; share: ShareName; accountId: string | null }
  /** What a look found could not be held against the log; the next look does it. */
  | { event: 'changes_not_logged'; sheetId: string; cause: unknown }
  /** A caller had to wait for a turn at what all share, and got it or went without. */
  | { event: 'turn_waited'; share: ShareName; waitedMs: number }
  /** Files and folders of the data folder that other users may read, and that are not ours to close. */
  | { event: 'data_open_to_others'; entries: number }
  /** It cannot be written to: away, full, or read-only. */
  | { event: 'store_lost'; cause: unknown }
  | { event: 'store_back' }
  | { event: 'redis_connected' }
  | { event: 'redis_lost' }
  /** This instance finds Redis away, so requests are counted in the store; or it is well again, and will count in a minute. */
  | { event: 'rate_windows_moved'; to: 'store' | 'redis' }
  | { event: 'credential_expired'; credentialId: string; reason: string }
  /** A person's edit came between our last look and our write: it may have hit another row than it was meant for. */
  | { event: 'write_raced'; provider: string; kind: 'add' | 'update' | 'delete' }
  /** Columns were moved under rows that were just added; whether their cells are under their headers again. */
  | { event: 'rows_put_right'; sheetId: string; rows: number; isDone: boolean }
  /** A program saved into a file that we had replaced; `copy` is how the name of the file beside it ends that has it, null for none. */
  | { event: 'file_saved_too_late'; copy: string | null }
  | { event: 'mail_sent'; mailId: string; attempts: number }
  /** It is tried again. `reason`: codes, such as `EAUTH 535`; what a mail server says in words may name whom it was for. */
  | { event: 'mail_failed'; mailId: string; attempts: number; reason: string }
  | { event: 'mail_given_up'; mailId: string; attempts: number; reason: string }
  | { event: 'webhook_delivered'; webhookId: string; changes: number; durationMs: number }
  /** It is tried again, unless it is turned off. `reason`: words of ours, which name no address. */
  | { event: 'webhook_failed'; webhookId: string; attempts: number; status: number | null; reason: string }
  | { event: 'webhook_turned_off'; webhookId: string; reason: string }

/**
 * `hit`: from memory. `miss`, `stale`: from the provider, because memory had nothing, or nothing fresh enough.
 * `rationed`, `outlasted`: from memory although no longer fresh, because the provider's ration is scarce or the
 * provider failed for the moment.
 */
export type RowsFrom = 'hit' | 'miss' | 'stale' | 'rationed' | 'outlasted'

export type Operation =
  | 'list_rows'
  | 'get_row'
  | 'add_rows'
  | 'update_row'
  | 'delete_row'
  | 'list_sheets'
  | 'list_changes'
  | 'refresh'
  | 'undo_write'
  | 'describe'
  | 'preflight'
  | 'none'

export type Observe = (observation: Observation) => void

export function observeAll(listeners: readonly Observe[]): Observe {
  return (observation) => {
    for (const listen of listeners) listen(observation)
  }
}
