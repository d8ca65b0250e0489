import { z } from 'zod'
import { type Fault, type FaultKind, faultKinds } from '../faults/fault.ts'
import { matchInput } from './match-input.ts'

const otherNames: Record<string, FaultKind> = { lost: 'resetAfterApply', late: 'applyLate' }

/** `applyLate`, `apply-late`, `APPLY_LATE` and 503 for "503" are all understood. */
const kind = z.union([z.string(), z.number()]).transform((given, context): FaultKind => {
  const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '')
  const wanted = plain(String(given))
  const known = otherNames[wanted] ?? faultKinds.find((name) => plain(name) === wanted)
  if (known) return known
  context.addIssue({ code: 'custom', message: `unknown kind; one of ${faultKinds.join(', ')}` })
  return z.NEVER
})

export const faultInput = z
  .strictObject({
    match: matchInput.exactOptional(),
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
