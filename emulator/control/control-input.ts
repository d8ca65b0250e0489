import { z } from 'zod'
import type { CallMatch } from '../faults/call-match.ts'
import { type Fault, type FaultKind, faultKinds } from '../faults/fault.ts'
import { googleLimits, type QuotaLimits } from '../rations/quotas.ts'

const pattern = z.string().transform((source, context) => {
  try {
    return new RegExp(source)
  } catch {
    context.addIssue({ code: 'custom', message: 'not a regular expression' })
    return z.NEVER
  }
})

const match: z.ZodType<CallMatch> = z.union([
  pattern.transform((path): CallMatch => ({ path })),
  z.strictObject({
    method: z.string().optional(),
    path: pattern.optional(),
    kind: z.enum(['read', 'write', 'other']).optional(),
    service: z.enum(['sheets', 'drive', 'oauth']).optional(),
    user: z.string().optional(),
  }),
])

/** `applyLate`, `apply-late`, `APPLY_LATE` and 503 for "503" are all understood. */
const kind = z.union([z.string(), z.number()]).transform((given, context): FaultKind => {
  const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '')
  const known = faultKinds.find((name) => plain(name) === plain(String(given)))
  if (known) return known
  context.addIssue({ code: 'custom', message: `unknown kind; one of ${faultKinds.join(', ')}` })
  return z.NEVER
})

export const faultInput = z
  .strictObject({
    match: match.optional(),
    kind,
    times: z.int().positive().optional(),
    rate: z.number().min(0).max(1).optional(),
    seed: z.int().default(1),
    status: z.int().min(200).max(599).optional(),
    body: z.unknown().optional(),
    delayMs: z.number().nonnegative().default(200),
    beforeCall: z.int().positive().optional(),
    lose: z.enum(['reset', 'hang']).default('reset'),
    intervalMs: z.number().nonnegative().default(100),
    chunkBytes: z.int().positive().default(1),
    bytes: z
      .int()
      .positive()
      .default(100 * 1024 * 1024),
    gzip: z.boolean().default(false),
  })
  .transform(
    ({ match: given = {}, times, rate, ...rest }): Fault => ({
      ...rest,
      body: rest.body,
      status: rest.status,
      beforeCall: rest.beforeCall,
      match: given,
      times: times ?? (rate === undefined ? 1 : undefined),
      rate: rate ?? 1,
    }),
  )

const cell = z.union([z.string(), z.number(), z.boolean(), z.null()])

export const spreadsheetInput = z.strictObject({
  title: z.string().min(1),
  owner: z.string().min(1),
  tabs: z
    .array(z.strictObject({ title: z.string().min(1), values: z.array(z.array(cell)).default([]) }))
    .min(1)
    .default([{ title: 'Sheet1', values: [] }]),
})

const place = { spreadsheetId: z.string(), tab: z.string() }
const when = { beforeCall: z.int().positive().optional(), match: match.optional() }
const position = z.int().positive()
/** 2, or B as a person would call it. */
const column = z.union([
  position,
  z
    .string()
    .regex(/^[A-Za-z]{1,3}$/)
    .transform((letters) =>
      [...letters.toUpperCase()].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0),
    ),
])

export const editInput = z.discriminatedUnion('op', [
  z.strictObject({ ...place, ...when, op: z.literal('set'), row: position, column, value: cell }),
  z.strictObject({
    ...place,
    ...when,
    op: z.literal('insertRow'),
    row: position,
    values: z.array(cell).exactOptional(),
  }),
  z.strictObject({ ...place, ...when, op: z.literal('deleteRow'), row: position }),
  z.strictObject({
    ...place,
    ...when,
    op: z.literal('sort'),
    column,
    descending: z.boolean().exactOptional(),
  }),
])

export const tokenInput = z.strictObject({
  user: z.string().min(1),
  scopes: z
    .array(z.string())
    .default(['https://www.googleapis.com/auth/drive', 'https://www.googleapis.com/auth/userinfo.email']),
  clientId: z.string().optional(),
})

export const clientInput = z.strictObject({
  clientId: z.string().min(1),
  clientSecret: z.string().min(1),
  redirectUris: z.array(z.string()),
})

const limit = z.number().nonnegative()
const quotas = z
  .union([
    z.boolean(),
    z.null(),
    z.strictObject({
      perUser: limit.optional(),
      perProject: limit.optional(),
      readPerUser: limit.optional(),
      writePerUser: limit.optional(),
      readPerProject: limit.optional(),
      writePerProject: limit.optional(),
    }),
  ])
  .transform((given): QuotaLimits | undefined => {
    if (given === null || given === false) return undefined
    const own = given === true ? {} : given
    return {
      readPerUser: own.readPerUser ?? own.perUser ?? googleLimits.readPerUser,
      writePerUser: own.writePerUser ?? own.perUser ?? googleLimits.writePerUser,
      readPerProject: own.readPerProject ?? own.perProject ?? googleLimits.readPerProject,
      writePerProject: own.writePerProject ?? own.perProject ?? googleLimits.writePerProject,
    }
  })

const latency = z
  .union([z.number().nonnegative(), z.strictObject({ minMs: limit, maxMs: limit })])
  .transform((given) => (typeof given === 'number' ? { minMs: given, maxMs: given } : given))

export const settingsInput = z.strictObject({
  latencyMs: latency.optional(),
  quotas: quotas.optional(),
  disabledServices: z.array(z.enum(['sheets', 'drive'])).optional(),
  autoConsent: z
    .union([
      z.boolean(),
      z.strictObject({
        user: z.string().optional(),
        scopes: z.array(z.string()).optional(),
        deny: z.boolean().optional(),
      }),
    ])
    .optional(),
})

export const clockInput = z.strictObject({ advanceMs: z.number().nonnegative() })
export const scopesInput = z.strictObject({ scopes: z.array(z.string()) })
