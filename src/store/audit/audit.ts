/** The store's part for what was changed, by whom and from where: for people who look it up later. */
export interface AuditStore {
  /** Only the newest of each account are remembered. */
  addAuditEntry(entry: NewAuditEntry): Promise<void>
  /** The newest first. */
  auditEntriesOf(accountId: string, limit: number): Promise<AuditEntry[]>
}

export interface NewAuditEntry {
  accountId: string
  /** `owner`: in the dashboard; `operator`: by a command; `rowport`: by itself. */
  actor: 'owner' | 'operator' | 'rowport'
  /** Where from; null where it did not come over the network. */
  address: string | null
  /** Such as `key.revoked`. */
  action: string
  /** What it was done to, as it was called then. */
  subject: string
  /** What was set to what, as JSON; null where there is nothing more to say. */
  details: string | null
}

export interface AuditEntry extends Omit<NewAuditEntry, 'accountId'> {
  id: string
  atMs: number
}
