import type { OwnerVerb } from '../owner-verbs.ts'

/** What is noted of a verb that was done. */
interface Audited {
  action: string
  /** `names`: of its path; `body`: its input; `json`: what it answered. */
  subject(names: readonly string[], body: Body, json: Body): string
  /** What of the input may be seen later: never a password or a key. */
  details?: readonly string[]
}

type Body = Record<string, unknown>

const first = ([name = '']: readonly string[]) => name
const nameOfKey = (_names: readonly string[], _body: Body, json: Body) => {
  const key = (json.key ?? json) as Body
  return String(key.name ?? '')
}

const nameOfForm = (_names: readonly string[], _body: Body, { name }: Body) => String(name)

/** By the verb; what is not here changes nothing that anybody would look up. */
export const auditedVerbs: Partial<Record<OwnerVerb, Audited>> = {
  'POST /sheets': {
    action: 'sheet.connected',
    subject: (_names, { slug }) => String(slug),
    details: ['access'],
  },
  'PATCH /sheets/{slug}': {
    action: 'sheet.changed',
    subject: first,
    details: [
      ...['slug', 'access', 'accepts', 'cacheSeconds', 'staleIfErrorSeconds', 'unknownFields', 'paused'],
      ...['keyColumn', 'autoKey', 'historyDays', 'watchSeconds', 'encoding'],
    ],
  },
  'DELETE /sheets/{slug}': { action: 'sheet.disconnected', subject: first },
  'POST /keys': {
    action: 'key.created',
    subject: (_names, { name }) => String(name),
    details: ['mode', 'scope', 'sheetSlug', 'expiresAtMs'],
  },
  'PATCH /keys/{id}': {
    action: 'key.changed',
    subject: nameOfKey,
    details: ['name', 'scope', 'expiresAtMs'],
  },
  'POST /keys/publishable': {
    action: 'key.created',
    subject: (_names, { name }) => String(name),
    details: ['mode', 'sheetSlug', 'expiresAtMs'],
  },
  'PATCH /keys/{id}/policy': {
    action: 'key.changed',
    subject: nameOfKey,
    details: ['may', 'origins', 'readColumns', 'writeColumns', 'where', 'maxRows', 'requestsPerMinute'],
  },
  'POST /keys/{id}/revoke': { action: 'key.revoked', subject: first },
  'POST /keys/{id}/regenerate': { action: 'key.regenerated', subject: nameOfKey },
  'POST /keys/{id}/rotate': { action: 'key.rotated', subject: nameOfKey, details: ['overlapSeconds'] },
  'POST /forms': {
    action: 'form.created',
    subject: nameOfForm,
    details: ['sheetSlug'],
  },
  'POST /forms/{id}': { action: 'form.changed', subject: nameOfForm },
  'PATCH /forms/{id}': { action: 'form.changed', subject: nameOfForm, details: ['isOpen'] },
  'POST /forms/{id}/remove': { action: 'form.deleted', subject: first },
  'POST /forms/{id}/entries/{entry}/release': { action: 'form.entry_released', subject: first },
  'POST /forms/{id}/release': { action: 'form.entries_released', subject: first },
  'POST /forms/{id}/entries/{entry}/discard': { action: 'form.entry_discarded', subject: first },
  'POST /webhooks': {
    action: 'webhook.added',
    subject: (_names, { url }) => String(url),
    details: ['sheetSlug', 'kinds', 'columns'],
  },
  'PATCH /webhooks/{id}': {
    action: 'webhook.changed',
    subject: (_names, _body, { url }) => String(url),
    details: ['isOn'],
  },
  'POST /webhooks/{id}/rotate': {
    action: 'webhook.rotated',
    subject: (_names, _body, { webhook }) => String((webhook as Body).url),
  },
  'POST /webhooks/{id}/replay': {
    action: 'webhook.replayed',
    subject: (_names, _body, { url }) => String(url),
  },
  'POST /webhooks/{id}/remove': { action: 'webhook.removed', subject: first },
  'POST /files': { action: 'file.uploaded', subject: (_names, _body, { name }) => String(name) },
  'POST /files/{name}/replace': { action: 'file.replaced', subject: first },
  'POST /files/{name}/rename': { action: 'file.renamed', subject: first, details: ['to'] },
  'DELETE /files/{name}': { action: 'file.deleted', subject: first },
  'POST /{keyProvider}/key': {
    action: 'connection.made',
    subject: (_names, _body, { email }) => String(email),
  },
  'POST /{provider}/disconnect': { action: 'connection.ended', subject: () => '' },
  'PATCH /account': { action: 'account.renamed', subject: (_names, { slug }) => String(slug) },
  'POST /password': { action: 'account.password_changed', subject: () => '' },
  'POST /email': { action: 'account.email_changed', subject: (_names, { email }) => String(email) },
  'PATCH /alerts': { action: 'account.alerts_changed', subject: () => '', details: ['isWanted'] },
  'POST /sign-out-everywhere': { action: 'account.signed_out_everywhere', subject: () => '' },
}

export function detailsOf({ details = [] }: Audited, body: Body): string | null {
  const given = details
    .filter((name) => body[name] !== undefined)
    .map((name) => [name, shortenDetail(body[name])])
  return given.length === 0 ? null : JSON.stringify(Object.fromEntries(given))
}

/** Enough to know what was meant: the log keeps every one of them, and shows many at a time. */
const mostOfList = 20
const mostCharacters = 300

function shortenDetail(value: unknown): unknown {
  if (typeof value === 'string')
    return value.length > mostCharacters ? `${value.slice(0, mostCharacters)}…` : value
  if (!Array.isArray(value)) return value
  const kept = value.slice(0, mostOfList)
  while (kept.length > 0 && JSON.stringify(kept).length > mostCharacters) kept.pop()
  return kept.length === value.length ? value : [...kept, `and ${value.length - kept.length} more`]
}
