/** The store's part for mails that wait to be sent. Time is the store's own. */
export interface MailStore {
  /** Due at once; from `lifeMs` on it is over. */
  addMail(mail: NewMail): Promise<void>
  /** The accounts that have one due, who has waited longest first; so many at most. */
  accountsWithDueMail(limit: number): Promise<string[]>
  /**
   * One that is due, of `accountId` where it is given, which nobody else gets for `holdMs`; null when none is. One that is over comes too,
   * to be removed.
   */
  takeDueMail(holdMs: number, accountId?: string): Promise<DueMail | null>
  /** It was sent, or is given up. Nothing happens when somebody else has taken it since. */
  removeMail(taken: Pick<DueMail, 'id' | 'attempts'>): Promise<void>
  /** It is due again after `pauseMs`. Nothing happens when somebody else has taken it since. */
  postponeMail(taken: Pick<DueMail, 'id' | 'attempts'>, pauseMs: number): Promise<void>
}

export interface NewMail {
  id: string
  accountId: string
  sealed: string
  /** Which key sealed it. */
  keyId: string
  lifeMs: number
}

export interface DueMail extends Omit<NewMail, 'lifeMs'> {
  /** How often it was taken, this time too. */
  attempts: number
  isOver: boolean
}
