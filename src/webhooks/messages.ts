import { changeJson } from '../changes/change-json.ts'
import { cursorText } from '../changes/cursor.ts'
import type { ReadChange } from '../changes/read-change.ts'
import type { WebhookEvent } from '../store/webhooks/webhook-sending.ts'
import type { WebhookRecord } from '../store/webhooks/webhooks.ts'

/** What a receiver is sent: the same under the same id, however often it is tried. */
export interface Message {
  id: string
  type: string
  body: string
  /** How many are in it. */
  changes: number
  cursor: string | null
}

/** A change with its number. */
export interface NumberedChange extends ReadChange {
  seq: number
  atMs: number
}

/** Whose message it is. */
export type ToldWebhook = Pick<WebhookRecord, 'id' | 'accountSlug' | 'sheetId' | 'sheetSlug' | 'replays'>

export interface RowsMessage {
  /** null: what came between is not told. */
  from: number | null
  to: { epoch: string; seq: number }
  changes: readonly NumberedChange[]
}

/** A row of a sheet may be larger than any receiver takes. */
const maxChangeBytes = 256 * 1024

export function rowsMessage(webhook: ToldWebhook, { from, to, changes }: RowsMessage): Message {
  const cursor = cursorText(to)
  const list = changes.map((change) => shortChangeJson(to.epoch, change))
  const head = JSON.stringify({ ...namesOf(webhook), cursor })
  return {
    id: messageId(webhook, `${to.epoch}-${from ?? 'reset'}-${to.seq}`),
    type: 'rows.changed',
    body: bodyOf(
      'rows.changed',
      changes.at(-1)?.atMs ?? 0,
      `${head.slice(0, -1)},"changes":[${list.join(',')}]}`,
    ),
    changes: changes.length,
    cursor,
  }
}

export function eventMessage(webhook: ToldWebhook, { seq, type, atMs, data }: WebhookEvent): Message {
  return {
    id: messageId(webhook, String(seq)),
    type,
    body: bodyOf(type, atMs, data),
    changes: 1,
    cursor: String(seq),
  }
}

/** To see whether it arrives. */
export function testMessage(webhook: ToldWebhook, nonce: string, atMs: number): Message {
  const type = 'webhook.test'
  const body = bodyOf(type, atMs, JSON.stringify(namesOf(webhook)))
  return { id: messageId(webhook, `test-${nonce}`), type, body, changes: 0, cursor: null }
}

function namesOf({ id, accountSlug, sheetSlug, sheetId }: ToldWebhook) {
  return { webhook: id, account: accountSlug, sheet: sheetSlug, sheet_id: sheetId }
}

/** As long as a message may be tried; one that is sent again on wish has another. */
function messageId({ id, replays }: ToldWebhook, what: string): string {
  return `${id}-${replays}-${what}`
}

function bodyOf(type: string, atMs: number, data: string): string {
  return `{"type":"${type}","timestamp":"${new Date(atMs).toISOString()}","data":${data}}`
}

/** A text that was not read is alone longer. */
function shortChangeJson(epoch: string, { seq, atMs, change, long }: NumberedChange): string {
  const cursor = cursorText({ epoch, seq })
  const json = long ? null : changeJson({ cursor, atMs, change })
  if (json !== null && json.length <= maxChangeBytes) return json
  const { before: _, after: __, ...rest } = change
  const omitted = long?.key ? ['key', 'before', 'after'] : ['before', 'after']
  return `${changeJson({ cursor, atMs, change: rest }).slice(0, -1)},"omitted":${JSON.stringify(omitted)}}`
}
