/** What was found of one thing; with advice where something is wrong with it. */
export interface Finding {
  check: Check
  /** One sentence, for people. */
  says: string
  /** null = all is well. */
  advice: string | null
}

export type Check =
  | 'Settings'
  | 'Data folder'
  | 'Store'
  | 'Secret'
  | 'Redis'
  | 'Clock'
  | 'Google'
  | 'Mail'
  | 'Files'

export function fine(check: Check, says: string): Finding {
  return { check, says, advice: null }
}

export function wrong(check: Check, says: string, advice: string): Finding {
  return { check, says, advice }
}
