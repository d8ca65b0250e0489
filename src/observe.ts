/**
 * Everything worth reporting, as one union. Code says what happened; log and metrics listen and each keeps what it
 * needs. A field here is a name, a number or an id: there is no room for a URL, a header, a key or a cell, so a
 * secret cannot be reported by mistake.
 */
export type Observation =
  | { event: 'server_listening'; host: string; port: number; version: string }
  | { event: 'server_draining'; signal: string }
  | { event: 'server_stopped'; openConnections: number }
  | { event: 'migration_applied'; number: number; name: string }
  | {
      event: 'request_answered'
      operation: Operation
      form: 'a' | 'b' | 'none'
      method: string
      status: number
      code: string | null
      /** Where the rows came from; null when none were read. */
      rowsFrom: 'hit' | 'miss' | 'stale' | null
      durationMs: number
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
  | { event: 'rows_added'; sheetId: string; rows: number; durationMs: number }
  | { event: 'snapshots_held'; sheets: number; bytes: number }
  | { event: 'decoder_lost'; error: unknown }

export type Operation =
  | 'list_rows'
  | 'get_row'
  | 'add_rows'
  | 'update_row'
  | 'delete_row'
  | 'list_sheets'
  | 'preflight'
  | 'none'

export type Observe = (observation: Observation) => void

export function observeAll(listeners: readonly Observe[]): Observe {
  return (observation) => {
    for (const listen of listeners) listen(observation)
  }
}
