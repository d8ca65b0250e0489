import { z } from 'zod'
import { apiMethodNames } from '../api-method.ts'
import type { CallMatch } from '../faults/call-match.ts'

const pattern = z.string().transform((source, context) => {
  try {
    return new RegExp(source)
  } catch {
    context.addIssue({ code: 'custom', message: 'not a regular expression' })
    return z.NEVER
  }
})

/** `spreadsheets.values.get` is `values.get`, `batchUpdate` is `spreadsheets.batchUpdate`. */
function methodNamed(text: string): string | undefined {
  const short = (name: string): string => name.replace(/^spreadsheets\./, '')
  return apiMethodNames.find((name) => short(name) === short(text))
}

const methodName = z.string().transform((text, context) => {
  const name = methodNamed(text)
  if (name !== undefined) return name
  context.addIssue({ code: 'custom', message: `unknown method; one of ${apiMethodNames.join(', ')}` })
  return z.NEVER
})

const verb = /^(get|head|post|put|patch|delete|options)$/i

const objectMatch = z
  .strictObject({
    name: methodName.optional(),
    /** A verb of HTTP, or the name of a method. */
    method: z.string().optional(),
    path: pattern.optional(),
    kind: z.enum(['read', 'write', 'other']).optional(),
    service: z.enum(['sheets', 'drive', 'oauth']).optional(),
    user: z.string().optional(),
  })
  .transform(({ method, ...rest }, context): CallMatch => {
    if (method === undefined || verb.test(method)) return { ...rest, method }
    const name = methodName.safeParse(method)
    if (name.success) return { ...rest, name: name.data }
    context.addIssue({ code: 'custom', message: name.error.issues[0]?.message ?? 'unknown method' })
    return z.NEVER
  })

/** A string is a pattern on the path, but for the name of a method with its dot, which is no sensible pattern. */
export const matchInput = z.unknown().transform((given, context): CallMatch => {
  const name = typeof given === 'string' && given.includes('.') ? methodNamed(given) : undefined
  if (name !== undefined) return { name }
  const read =
    typeof given === 'string'
      ? pattern.transform((path): CallMatch => ({ path })).safeParse(given)
      : objectMatch.safeParse(given)
  if (read.success) return read.data
  for (const { path, message } of read.error.issues) context.addIssue({ code: 'custom', path, message })
  return z.NEVER
})
