import { z } from 'zod'
import type { LatencyRange } from '../emulation.ts'
import { googleLimits, type QuotaLimits } from '../rations/quotas.ts'
import { matchInput } from './match-input.ts'

const cell = z.union([z.string(), z.number(), z.boolean(), z.null()])

export const spreadsheetInput = z.strictObject({
  title: z.string().min(1),
  owner: z.string().min(1),
  tabs: z
    .array(z.strictObject({ title: z.string().min(1), values: z.array(z.array(cell)).default([]) }))
    .min(1)
    .default([{ title: 'Sheet1', values: [] }]),
  /** true: its owner, false: nobody, or whose drive.file tokens shall see it. */
  pickedBy: z.union([z.boolean(), z.array(z.string())]).default(true),
})

export const protectInput = z.strictObject({
  spreadsheetId: z.string(),
  tab: z.string(),
  range: z.string().exactOptional(),
  editors: z.array(z.string()).default([]),
  warningOnly: z.boolean().exactOptional(),
})

export const pickInput = z.strictObject({ user: z.string().min(1), spreadsheetId: z.string() })

const place = { spreadsheetId: z.string(), tab: z.string() }
const when = {
  beforeCall: z.int().positive().optional(),
  rate: z.number().min(0).max(1).optional(),
  seed: z.int().default(1),
  match: matchInput.exactOptional(),
}
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
  z.strictObject({ ...place, ...when, op: z.literal('insertColumn'), column, header: cell.exactOptional() }),
  z.strictObject({ ...place, ...when, op: z.literal('deleteColumn'), column }),
  z.strictObject({ ...place, ...when, op: z.literal('moveColumn'), column, to: column }),
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

export const serviceAccountInput = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z][a-z\d-]{4,28}[a-z\d]$/)
    .default('rowport-robot'),
  project: z
    .string()
    .regex(/^[a-z][a-z\d-]{4,28}[a-z\d]$/)
    .default('emulated-project'),
})
export const apiKeyInput = z.strictObject({ key: z.string().min(1) })
export const shareInput = z.strictObject({
  spreadsheetId: z.string(),
  /** An address, or `anyone` with the link. */
  with: z.string().min(1),
  role: z.enum(['reader', 'writer']).default('writer'),
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

const latencyRange = z
  .union([limit, z.strictObject({ minMs: limit, maxMs: limit })])
  .transform((given): LatencyRange => (typeof given === 'number' ? { minMs: given, maxMs: given } : given))

const atOnce: LatencyRange = { minMs: 0, maxMs: 0 }
const latency = z.union([
  latencyRange.transform((range) => ({ read: range, write: range, other: range })),
  z.strictObject({
    read: latencyRange.default(atOnce),
    write: latencyRange.default(atOnce),
    other: latencyRange.default(atOnce),
  }),
])

export const settingsInput = z.strictObject({
  latencyMs: latency.optional(),
  quotas: quotas.optional(),
  disabledServices: z.array(z.enum(['sheets', 'drive'])).optional(),
  strictValidation: z.boolean().optional(),
  autoConsent: z
    .union([
      z.boolean(),
      z.strictObject({
        user: z.string().optional(),
        scopes: z.array(z.string()).optional(),
        deny: z.boolean().optional(),
        pick: z.union([z.boolean(), z.array(z.string())]).optional(),
      }),
    ])
    .optional(),
})

export const clockInput = z.strictObject({ advanceMs: z.number().nonnegative() })
export const scopesInput = z.strictObject({ scopes: z.array(z.string()) })
