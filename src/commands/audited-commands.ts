import type { Workshop } from '../assemble/workshop.ts'
import { Problem } from '../management/problem.ts'
import { connectableKinds } from '../providers/provider-table.ts'
import { type Command, fileArgument, type Options } from './command.ts'

/** What owners find in their audit log of what the operator did; commands that only look are not here. */
const actions: Record<string, string> = {
  'account create': 'account.created',
  'account plan': 'account.plan_changed',
  'account link': 'account.link_created',
  'sheet connect': 'sheet.connected',
  'sheet pause': 'sheet.paused',
  'sheet resume': 'sheet.resumed',
  'sheet set': 'sheet.changed',
  'sheet rename': 'sheet.changed',
  'key create': 'key.created',
  'key revoke': 'key.revoked',
  'key regenerate': 'key.regenerated',
  'key scope': 'key.changed',
  'key policy': 'key.changed',
  'form create': 'form.created',
  'form update': 'form.changed',
  'form open': 'form.opened',
  'form close': 'form.closed',
  'form delete': 'form.deleted',
  'form release': 'form.entry_released',
  'form discard': 'form.entry_discarded',
  'webhook add': 'webhook.added',
  'webhook pause': 'webhook.paused',
  'webhook resume': 'webhook.resumed',
  'webhook rotate': 'webhook.rotated',
  'webhook replay': 'webhook.replayed',
  'webhook remove': 'webhook.removed',
  ...Object.fromEntries(
    connectableKinds.flatMap(({ id, keyCommand }) => [
      [`${id} disconnect`, 'connection.ended'],
      [`${id} ${keyCommand} add`, 'connection.made'],
    ]),
  ),
}

/** Options that say where something lies on this machine are nobody's business but the operator's. */
const unshown = new Set(['file', 'json', 'captcha-secret-file'])

/** Called before the command; what it returns, when it is done. */
export async function noteCommand(
  workshop: Workshop,
  { words: command, positionals }: Command,
  words: readonly string[],
  options: Options,
): Promise<() => Promise<void>> {
  const action = actions[command.join(' ')]
  const [target = ''] = words
  const rest = words.flatMap((word, at) =>
    at > 0 && positionals[at] !== fileArgument ? [[nameOf(positionals[at]), word] as const] : [],
  )
  if (action === undefined) return async () => {}
  // Whose it is can be told before a command that removes something, and after one that makes it.
  const before = await accountAndSubject(workshop, target)
  return async () => {
    const of = before ?? (await accountAndSubject(workshop, target))
    if (of) await note(workshop, of, action, rest, options)
  }
}

async function note(
  workshop: Workshop,
  of: { accountId: string; subject: string },
  action: string,
  rest: readonly (readonly [name: string, word: string])[],
  options: Options,
): Promise<void> {
  const given = Object.entries(options).filter(([name, value]) => value !== undefined && !unshown.has(name))
  const details = Object.fromEntries([...rest, ...given])
  await workshop.audit.note({
    ...of,
    actor: 'operator',
    address: null,
    action,
    details: Object.keys(details).length === 0 ? null : JSON.stringify(details),
  })
}

/** `<new name>` → new name. */
function nameOf(positional = ''): string {
  return /^<([^>]+)>$/.exec(positional)?.[1] ?? 'value'
}

/** `target`: `<account>`, `<account>/<sheet>` or the id of a key or webhook. */
async function accountAndSubject({ store, accounts }: Workshop, target: string) {
  if (target.startsWith('key_')) {
    const key = await store.findKey(target)
    return key && { accountId: key.accountId, subject: key.name }
  }
  if (target.startsWith('wh_')) {
    const webhook = await store.findWebhook(target)
    return webhook && { accountId: webhook.accountId, subject: webhook.url }
  }
  if (target.startsWith('form_') || target.startsWith('entry_')) {
    const entry = target.startsWith('entry_') ? await store.findEntry(target) : null
    const form = await store.findForm(entry?.formId ?? target)
    return form && { accountId: form.accountId, subject: form.name }
  }
  const [slug = '', sheet] = target.split('/')
  const account = await accounts.find(slug)
  return account instanceof Problem ? null : { accountId: account.id, subject: sheet ?? '' }
}
