import { z } from 'zod'
import type { FreshKey, KeyRecord } from '../../management/keys/keys.ts'
import { Problem } from '../../management/problem.ts'
import type { KeyView, NewKeyView } from '../contract.ts'
import type { DashboardParts } from '../dashboard-parts.ts'
import { type OwnerCall, type VerbOutcome, type Verbs, withInput } from './route.ts'

const keyInput = z.strictObject({
  name: z.string('Give it a name.').max(200),
  mode: z.enum(['live', 'test']),
  scope: z.enum(['read', 'read-write']),
  sheetSlug: z.string().max(100).nullable(),
})

/** docs/reliability.md#how-much-one-owner-can-make. The operator's commands know no such limit. */
const maxActiveKeys = 50

export const keyVerbs = {
  'GET /keys': {
    async owner(call, parts) {
      const list = await parts.keys.list(call.session.account)
      const view = await viewer(call, parts)
      return { json: list.map(view) }
    },
  },
  'POST /keys': {
    ...withInput(keyInput, async (call, wish, parts) => {
      const { account } = call.session
      const list = await parts.keys.list(account)
      const active = list.filter(({ revokedAtMs }) => revokedAtMs === null)
      if (active.length >= maxActiveKeys) return tooMany
      return fresh(call, await parts.keys.create({ account, ...wish }), parts)
    }),
  },
  'POST /keys/{id}/revoke': {
    // Without a recent sign-in: whoever finds a key in the wrong hands must be able to end it at once.
    takesAccessAway: true,
    async owner(call, parts) {
      const key = await keyIn(call, parts)
      if (key instanceof Problem) return key
      const revoked = await parts.keys.revoke(key.id)
      return revoked instanceof Problem ? revoked : { json: null }
    },
  },
  'POST /keys/{id}/regenerate': {
    needsRecentSignIn: true,
    async owner(call, parts) {
      const key = await keyIn(call, parts)
      return key instanceof Problem ? key : fresh(call, await parts.keys.regenerate(key.id), parts)
    },
  },
} satisfies Partial<Verbs>

function keyIn({ session, names: [id = ''] }: OwnerCall, { keys }: DashboardParts) {
  return keys.ofAccount(session.account.id, id)
}

async function fresh(
  call: OwnerCall,
  made: FreshKey | Problem,
  parts: DashboardParts,
): Promise<VerbOutcome<NewKeyView>> {
  if (made instanceof Problem) return made
  const view: NewKeyView = { key: (await viewer(call, parts))(made.record), value: made.value }
  return { json: view, status: 201 }
}

async function viewer(
  { session: { account } }: OwnerCall,
  { sheets, usageFigures }: DashboardParts,
): Promise<(key: KeyRecord) => KeyView> {
  const [list, month] = await Promise.all([sheets.list(account), usageFigures.thisMonth(account)])
  const slugs = new Map(list.map(({ id, slug }) => [id, slug]))
  return ({
    id,
    name,
    mode,
    scope,
    sheetId,
    shownStart,
    shownEnd,
    createdAtMs,
    lastUsedAtMs,
    revokedAtMs,
  }) => ({
    id,
    name,
    mode,
    scope,
    sheetSlug: sheetId === null ? null : (slugs.get(sheetId) ?? null),
    shownStart,
    shownEnd,
    createdAtMs,
    lastUsedAtMs,
    revokedAtMs,
    requestsThisMonth: month.byKey.get(id) ?? 0,
  })
}

const tooMany = new Problem(`An account has at most ${maxActiveKeys} active keys. Revoke one first.`)
