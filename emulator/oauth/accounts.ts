import { createHash } from 'node:crypto'

export interface Account {
  email: string
  /** Google's lasting id of a person: 21 digits, not a number that fits one. */
  sub: string
  name: string
}

const firstAccounts = ['ada@example.com', 'grace@example.com']

export interface Accounts {
  all(): Account[]
  /** Makes the account when it is new: whoever is named exists. */
  get(email: string): Account
}

export function createAccounts(): Accounts {
  const byEmail = new Map<string, Account>()
  const get = (email: string): Account => {
    const key = email.trim().toLowerCase()
    const known = byEmail.get(key)
    if (known) return known
    const account = { email: key, sub: subOf(key), name: nameOf(key) }
    byEmail.set(key, account)
    return account
  }
  for (const email of firstAccounts) get(email)
  return { all: () => [...byEmail.values()], get }
}

function subOf(email: string): string {
  const digits = BigInt(`0x${createHash('sha256').update(email).digest('hex').slice(0, 16)}`)
  return `1${String(digits).padStart(20, '0')}`.slice(0, 21)
}

function nameOf(email: string): string {
  const [local = email] = email.split('@')
  return local
    .split(/[._-]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ')
}
