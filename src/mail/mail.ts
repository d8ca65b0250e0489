/** A mail as its reader gets it: plain text, which every program shows and nobody has to trust. */
export interface Mail {
  to: string
  subject: string
  text: string
}

/** Who takes mails and brings them to their readers. */
export interface MailTransport {
  /** Never throws: a mail that does not go is an everyday thing. */
  send(mail: Mail & { id: string }): Promise<MailOutcome>
  /** Signs in there and sends nothing; the problem in a sentence's half, or null. */
  check(): Promise<string | null>
  /** Cuts off what is being sent, which has then failed for now. */
  close(): void
}

/** `refused`: the same mail would be refused again. `failed`: later may be better. `reason`: codes, never whom it was for. */
export type MailOutcome = { sent: true } | { sent: false; refused: boolean; reason: string }
