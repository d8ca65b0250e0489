import type { Workshop } from '../assemble/workshop.ts'
import { Problem } from '../management/problem.ts'
import type { NewDelivery, ReplaySince, WebhookRecord } from '../management/webhooks/webhooks.ts'
import { type Command, type CommandOutcome, table, UsageError } from './command.ts'
import { parseSheetAddress } from './sheet-address.ts'

export const webhookCommands: readonly Command[] = [
  {
    words: ['webhook', 'add'],
    usage:
      'webhook add <account>/<sheet> --url <url> [--kinds added,updated,deleted] [--columns <a,b>]\n' +
      '  rowport webhook add <account> --url <url>',
    positionals: ['<account>/<sheet>'],
    options: ['url', 'kinds', 'columns'],
    async run({ accounts, webhooks }, [target = ''], { url, kinds, columns }) {
      if (url === undefined) throw new UsageError('A webhook needs a --url.')
      const isOfAccount = !target.includes('/')
      const { accountSlug, sheetSlug } = isOfAccount
        ? { accountSlug: target, sheetSlug: null }
        : parseSheetAddress(target)
      const account = await accounts.find(accountSlug)
      if (account instanceof Problem) return account
      const wish = { account, sheetSlug, url, kinds: listOf(kinds), columns: listOf(columns) }
      const made = await webhooks.add({ ...wish, isByOperator: true })
      if (made instanceof Problem) return made
      const { record, secret } = made
      const what = sheetSlug === null ? `events of ${accountSlug}` : `changes of ${accountSlug}/${sheetSlug}`
      return {
        json: { ...webhookJson(record), secret },
        text: `Webhook ${record.id}: ${what} go to ${record.url}.\n${showSecretOnce(secret)}`,
      }
    },
  },
  {
    words: ['webhook', 'list'],
    usage: 'webhook list <account>',
    positionals: ['<account>'],
    options: [],
    async run({ accounts, webhooks }, [slug = '']) {
      const account = await accounts.find(slug)
      if (account instanceof Problem) return account
      const list = await webhooks.list(account)
      const lines = list.map((webhook) => [
        webhook.id,
        webhook.sheetSlug ?? '(account)',
        stateWords(webhook),
        String(webhook.waiting),
        webhook.url,
      ])
      const columns = ['ID', 'SHEET', 'STATE', 'WAITING', 'URL']
      return { json: list.map(webhookJson), text: table(columns, lines, `No webhooks in ${slug} yet.`) }
    },
  },
  ofWebhook('test', async (webhook, { webhooks }) => {
    const delivery = await webhooks.test(webhook)
    if (delivery instanceof Problem) return delivery
    const { failure } = delivery
    if (failure !== null) return new Problem(`the test was not taken: ${failure}`)
    return { json: deliveryJson(delivery), text: `Taken: ${delivery.status} in ${delivery.durationMs} ms.` }
  }),
  ofWebhook('pause', async (webhook, { webhooks }) => {
    const paused = await webhooks.pause(webhook)
    return { json: webhookJson(paused), text: `Paused ${webhook.id}. What changes meanwhile is sent later.` }
  }),
  ofWebhook('resume', async (webhook, { webhooks }) => {
    const resumed = await webhooks.resume(webhook)
    return { json: webhookJson(resumed), text: `${webhook.id} is on and continues where it stopped.` }
  }),
  ofWebhook('rotate', async (webhook, { webhooks }) => {
    const { record, secret } = await webhooks.rotate(webhook)
    return {
      json: { ...webhookJson(record), secret },
      text: `New secret. The old one signs too for 24 hours.\n${showSecretOnce(secret)}`,
    }
  }),
  ofWebhook('remove', async (webhook, { webhooks }) => {
    await webhooks.remove(webhook)
    return { json: { id: webhook.id, removed: true }, text: `Removed ${webhook.id}.` }
  }),
  ofWebhook('deliveries', async (webhook, { webhooks }) => {
    const deliveries = await webhooks.deliveries(webhook)
    const lines = deliveries.map(({ atMs, type, changes, cursor, status, durationMs, failure, answer }) => [
      new Date(atMs).toISOString(),
      type,
      String(changes),
      cursor ?? '',
      String(status ?? ''),
      `${durationMs} ms`,
      failure ?? answer.split('\n')[0]?.slice(0, 60) ?? '',
    ])
    const columns = ['AT', 'TYPE', 'CHANGES', 'CURSOR', 'STATUS', 'TOOK', 'ANSWER']
    return { json: deliveries.map(deliveryJson), text: table(columns, lines, 'Nothing was sent yet.') }
  }),
  {
    words: ['webhook', 'replay'],
    usage: 'webhook replay <webhook id> --since <cursor>|<time>|earliest',
    positionals: ['<webhook id>'],
    options: ['since'],
    async run({ webhooks }, [id = ''], { since }) {
      if (since === undefined) throw new UsageError('Say from where with --since.')
      const webhook = await webhooks.find(id)
      if (webhook instanceof Problem) return webhook
      const moved = await webhooks.replay(webhook, sinceOf(since))
      if (moved instanceof Problem) return moved
      return {
        json: webhookJson(moved),
        text: `${moved.waiting} ${moved.sheetId === null ? 'events' : 'changes'} are sent again.`,
      }
    },
  },
]

/** One that is about a webhook and nothing else. */
function ofWebhook(
  verb: string,
  run: (webhook: WebhookRecord, workshop: Workshop) => Promise<CommandOutcome | Problem>,
): Command {
  return {
    words: ['webhook', verb],
    usage: `webhook ${verb} <webhook id>`,
    positionals: ['<webhook id>'],
    options: [],
    async run(workshop, [id = '']) {
      const webhook = await workshop.webhooks.find(id)
      return webhook instanceof Problem ? webhook : run(webhook, workshop)
    },
  }
}

function listOf(text: string | undefined): string[] | null {
  return text === undefined ? null : text.split(',').map((entry) => entry.trim())
}

/** A date begins with a year; no cursor has a minus there. */
function sinceOf(text: string): ReplaySince {
  if (text === 'earliest') return 'earliest'
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return { cursor: text }
  const atMs = Date.parse(text)
  if (Number.isNaN(atMs)) throw new UsageError(`--since "${text}" is no time such as 2026-11-15T09:30:00Z.`)
  return { atMs }
}

function stateWords({ state, offReason, attempts }: WebhookRecord): string {
  if (state === 'off') return `off: ${offReason}`
  return state === 'on' && attempts > 0 ? `failing (${attempts})` : state
}

function webhookJson(webhook: WebhookRecord) {
  const { id, sheetSlug, url, kinds, columns, state, offReason, attempts, waiting, createdAtMs } = webhook
  return {
    id,
    sheet: sheetSlug,
    url,
    kinds,
    columns,
    state,
    off_reason: offReason,
    failed_attempts: attempts,
    waiting,
    created_at: new Date(createdAtMs).toISOString(),
  }
}

function deliveryJson(delivery: NewDelivery) {
  const { messageId, type, changes, cursor, atMs, durationMs, status, failure, answer } = delivery
  return {
    message_id: messageId,
    type,
    changes,
    cursor,
    at: new Date(atMs).toISOString(),
    duration_ms: durationMs,
    status,
    failure,
    answer,
  }
}

function showSecretOnce(secret: string): string {
  return `Save its secret now. It won't be shown again:\n\n  ${secret}\n`
}
