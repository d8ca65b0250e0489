import type { Workshop } from '../assemble/workshop.ts'
import { Problem } from '../management/problem.ts'
import { connectableKinds } from '../providers/provider-table.ts'
import type { Command, Options } from './command.ts'

/** What owners find in their audit log of what the operator did; commands that only look are not here. */
const actions: Record<string, string> = {
  'account create': 'account.created',
  'account plan': 'account.plan_changed',
  'account link': 'account.link_created',
  'sheet connect': 'sheet.connected',
  'sheet pause': 'sheet.paused',
  'sheet resume': 'sheet.resumed',
  'sheet set': 'sheet.changed',
  'key create': 'key.created',
  'key revoke': 'key.revoked',
  'key regenerate': 'key.regenerated',
  'key scope': 'key.changed',
  ...Object.fromEntries(connectableKinds.map(({ id }) => [`${id} disconnect`, 'connection.ended'])),
}

/** Options that say where something lies on this machine are nobody's business but the operator's. */
const unshown = new Set(['file', 'json'])

export async function noteCommand(
  workshop: Workshop,
  { words: command }: Command,
  words: readonly string[],
  options: Options,
): Promise<void> {
  const action = actions[command.join(' ')]
  const [target = '', ...rest] = words
  if (action === undefined) return
  const of = await accountAndSubject(workshop, target)
  if (!of) return
  const given = Object.entries(options).filter(([name, value]) => value !== undefined && !unshown.has(name))
  const details = Object.fromEntries([
    ...rest.map((word, at) => [`value${at === 0 ? '' : at + 1}`, word]),
    ...given,
  ])
  await workshop.audit.note({
    ...of,
    actor: 'operator',
    address: null,
    action,
    details: Object.keys(details).length === 0 ? null : JSON.stringify(details),
  })
}

/** `target`: `<account>`, `<account>/<sheet>` or the id of a key. */
async function accountAndSubject({ store, accounts }: Workshop, target: string) {
  if (target.startsWith('key_')) {
    const key = await store.findKey(target)
    return key && { accountId: key.accountId, subject: key.name }
  }
  const [slug = '', sheet] = target.split('/')
  const account = await accounts.find(slug)
  return account instanceof Problem ? null : { accountId: account.id, subject: sheet ?? '' }
}
