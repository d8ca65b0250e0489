import type { Keys } from '../keys/keys.ts'
import { Problem } from '../problem.ts'
import type { Sheets } from '../sheets/sheets.ts'
import type { AccountRecord, Accounts } from './accounts.ts'

/**
 * Verbs for whoever runs the server, who names accounts by their slugs. A slug is looked up once, before
 * anything else: whatever the verb does afterwards is for that account, also when the slug has become another's.
 */
export interface BySlug {
  sheets: { [Verb in 'find' | 'list' | 'setPaused' | 'change']: VerbBySlug<Sheets[Verb]> } & {
    connect: WishBySlug<Sheets['connect']>
  }
  keys: Omit<Keys, 'create' | 'createPublishable' | 'list'> & {
    create: WishBySlug<Keys['create']>
    createPublishable: WishBySlug<Keys['createPublishable']>
    list: VerbBySlug<Keys['list']>
  }
}

/** `(account, …)` becomes `(accountSlug, …)`. */
type VerbBySlug<Verb> = Verb extends (account: AccountRecord, ...rest: infer Rest) => Promise<infer Answer>
  ? (accountSlug: string, ...rest: Rest) => Promise<Answer | Problem>
  : never

/** `({ account, … })` becomes `({ accountSlug, … })`. */
type WishBySlug<Verb> = Verb extends (wish: infer Wish) => Promise<infer Answer>
  ? (wish: Omit<Wish, 'account'> & { accountSlug: string }) => Promise<Answer | Problem>
  : never

export function createBySlug(
  accounts: Pick<Accounts, 'find'>,
  { sheets, keys }: { sheets: Sheets; keys: Keys },
): BySlug {
  return {
    sheets: {
      connect: ({ accountSlug, ...wish }) =>
        of(accountSlug, (account) => sheets.connect({ account, ...wish })),
      find: bySlug(sheets.find),
      list: bySlug(sheets.list),
      setPaused: bySlug(sheets.setPaused),
      change: bySlug(sheets.change),
    },
    keys: {
      ...keys,
      create: ({ accountSlug, ...wish }) => of(accountSlug, (account) => keys.create({ account, ...wish })),
      createPublishable: ({ accountSlug, ...wish }) =>
        of(accountSlug, (account) => keys.createPublishable({ account, ...wish })),
      list: bySlug(keys.list),
    },
  }

  function bySlug<Rest extends unknown[], Answer>(
    verb: (account: AccountRecord, ...rest: Rest) => Promise<Answer>,
  ) {
    return (slug: string, ...rest: Rest) => of(slug, (account) => verb(account, ...rest))
  }

  async function of<Answer>(
    slug: string,
    act: (account: AccountRecord) => Promise<Answer>,
  ): Promise<Answer | Problem> {
    const account = await accounts.find(slug)
    return account instanceof Problem ? account : act(account)
  }
}
