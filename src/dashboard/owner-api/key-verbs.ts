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
  expiresAtMs: z.int().min(0).nullable().optional(),
})
const changeInput = z.strictObject({
  name: z.string('Give it a name.').max(200).optional(),
  scope: z.enum(['read', 'read-write']).optional(),
  expiresAtMs: z.int().min(0).nullable().optional(),
})
const columnsInput = z.array(z.string().max(1_000)).max(2_000).readonly().nullable()
const policyInput = z.strictObject({
  may: z
    .array(z.enum(['read', 'add']))
    .max(2)
    .readonly(),
  origins: z.union([z.literal('any'), z.array(z.string().max(300)).max(50).readonly()]),
  readColumns: columnsInput,
  writeColumns: columnsInput,
  where: z.string().max(2_000).nullable(),
  set: z
    .array(
      z.tuple([z.string().max(1_000), z.union([z.string().max(2_000), z.number(), z.boolean()])]).readonly(),
    )
    .max(100)
    .readonly(),
  maxRows: z.int('Write a whole number.'),
  requestsPerMinute: z.int('Write a whole number.'),
})
const publishableInput = z.strictObject({
  name: z.string('Give it a name.').max(200),
  mode: z.enum(['live', 'test']),
  sheetSlug: z.string().max(100),
  policy: policyInput,
  expiresAtMs: z.int().min(0).nullable().optional(),
})
const rotateInput = z.strictObject({
  overlapSeconds: z.union([z.literal(3_600), z.literal(86_400), z.literal(604_800)]),
})

/** docs/reliability.md#how-much-one-owner-can-make. The operator's commands know no such limit. */
const maxActiveKeys = 50
/** With those whose successors are in use already: all of them can be rotated at once. */
const maxRotatedKeys = 2 * maxActiveKeys

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
      const { expiresAtMs = null, ...rest } = wish
      const problem = await problemWithNew(account, expiresAtMs, parts)
      if (problem) return problem
      return fresh(
        call,
        await parts.keys.create({ account, expiresAtMs, ...rest, mostActive: maxActiveKeys }),
        parts,
      )
    }),
  },
  'POST /keys/publishable': {
    ...withInput(publishableInput, async (call, { expiresAtMs = null, ...wish }, parts) => {
      const { account } = call.session
      const problem = await problemWithNew(account, expiresAtMs, parts)
      if (problem) return problem
      return fresh(
        call,
        await parts.keys.createPublishable({ account, expiresAtMs, ...wish, mostActive: maxActiveKeys }),
        parts,
      )
    }),
  },
  'PATCH /keys/{id}/policy': {
    ...withInput(policyInput, async (call, policy, parts) => {
      const key = await keyIn(call, parts)
      if (key instanceof Problem) return key
      const changed = await parts.keys.setPolicy(key.id, policy)
      return changed instanceof Problem ? changed : { json: (await viewer(call, parts))(changed) }
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
  'PATCH /keys/{id}': {
    ...withInput(changeInput, async (call, { name, scope, expiresAtMs }, parts) => {
      const key = await keyIn(call, parts)
      if (key instanceof Problem) return key
      const nowMs = parts.clock.nowMs()
      if (expiresAtMs != null && expiresAtMs <= nowMs) return alreadyOver
      const comesBack = expiresAtMs !== undefined && key.revokedAtMs === null && !isActiveAt(key, nowMs)
      if (comesBack && (await hasAllKeys(call.session.account, parts))) return tooMany
      const change = {
        ...(name !== undefined && { name }),
        ...(scope !== undefined && { scope }),
        ...(expiresAtMs !== undefined && { expiresAtMs }),
      }
      const changed = await parts.keys.change(key.id, change, maxActiveKeys)
      return changed instanceof Problem ? changed : { json: (await viewer(call, parts))(changed) }
    }),
  },
  'POST /keys/{id}/rotate': {
    needsRecentSignIn: true,
    ...withInput(rotateInput, async (call, { overlapSeconds }, parts) => {
      const key = await keyIn(call, parts)
      if (key instanceof Problem) return key
      return fresh(call, await parts.keys.regenerate(key.id, overlapSeconds * 1_000, maxRotatedKeys), parts)
    }),
  },
  'POST /keys/{id}/regenerate': {
    needsRecentSignIn: true,
    async owner(call, parts) {
      const key = await keyIn(call, parts)
      return key instanceof Problem ? key : fresh(call, await parts.keys.regenerate(key.id), parts)
    },
  },
} satisfies Partial<Verbs>

async function problemWithNew(
  account: OwnerCall['session']['account'],
  expiresAtMs: number | null,
  parts: DashboardParts,
): Promise<Problem | null> {
  if (await hasAllKeys(account, parts)) return tooMany
  return expiresAtMs !== null && expiresAtMs <= parts.clock.nowMs() ? alreadyOver : null
}

/** For the words alone; the store holds the number. */
async function hasAllKeys(
  account: OwnerCall['session']['account'],
  { keys, clock }: DashboardParts,
): Promise<boolean> {
  const nowMs = clock.nowMs()
  const active = (await keys.list(account)).filter((key) => isActiveAt(key, nowMs))
  return active.length >= maxActiveKeys
}

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
  { sheets, usageFigures, clock }: DashboardParts,
): Promise<(key: KeyRecord) => KeyView> {
  const [list, month] = await Promise.all([sheets.list(account), usageFigures.thisMonth(account)])
  const slugs = new Map(list.map(({ id, slug }) => [id, slug]))
  const nowMs = clock.nowMs()
  return (key) => {
    const { id, name, mode, scope, sheetId, shownStart, shownEnd } = key
    const { createdAtMs, lastUsedAtMs, revokedAtMs, expiresAtMs, policy, publicValue } = key
    return {
      id,
      name,
      mode,
      scope,
      sheetSlug: sheetId === null ? null : (slugs.get(sheetId) ?? null),
      shownStart,
      shownEnd,
      createdAtMs,
      // The first use is written down a moment after it; the figures know of it at once.
      lastUsedAtMs: lastUsedAtMs ?? (month.byKey.has(id) ? nowMs : null),
      revokedAtMs,
      requestsThisMonth: month.byKey.get(id) ?? 0,
      expiresAtMs,
      state: revokedAtMs !== null ? 'revoked' : isActiveAt(key, nowMs) ? 'active' : 'expired',
      policy,
      publicValue,
    }
  }
}

/** As far as this machine's clock tells; whether a request passes is for the store's. */
export function isActiveAt({ revokedAtMs, expiresAtMs }: KeyRecord, nowMs: number): boolean {
  return revokedAtMs === null && (expiresAtMs === null || expiresAtMs > nowMs)
}

const alreadyOver = new Problem('Choose a date in the future.', { field: 'expiresAtMs' })
const tooMany = new Problem(`You can have up to ${maxActiveKeys} active keys. Revoke one first.`)
