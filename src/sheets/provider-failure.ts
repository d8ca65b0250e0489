export interface FailureFacts {
  /** One sentence for the owner: what to do about it. */
  details?: string
  /** It may well be over in a moment: worth a retry, and a reason to go on with the rows that are known. */
  isPassing?: boolean
  /** What is there now is being written and not whole: known rows may be shown a little longer, and nobody need wait. */
  isHalfWritten?: boolean
  retryAfterSeconds?: number
  cause?: unknown
}

/**
 * The provider could not do what was asked: file gone, not a spreadsheet, Google away. `message` reaches the client
 * inside `google_api_error` (docs/contract.md#provider-failures), and `details` beside it, so they name what the owner
 * can do about it and never a path, a token or a stack; `cause` keeps the rest for the log.
 */
export class ProviderFailure extends Error {
  override readonly name: string = 'ProviderFailure'
  readonly facts: FailureFacts

  constructor(message: string, facts: FailureFacts = {}) {
    super(message, { cause: facts.cause })
    this.facts = facts
  }
}

/**
 * The owner's credential is no good any more: only the owner can help, by connecting again (`token_expired`,
 * docs/contract.md#expired-credentials).
 */
export class CredentialExpired extends ProviderFailure {
  override readonly name = 'CredentialExpired'
}

/** A write was sent and no answer came: it may have been done, may never be, or may still come to pass. */
export class OutcomeUnknown extends ProviderFailure {
  override readonly name = 'OutcomeUnknown'
}
