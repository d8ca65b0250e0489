import { z } from 'zod'

/** Shorter ones are judged as a whole, and all that is wrong is told. */
const longList = 50

/**
 * The first that is wrong in a long list or row, in words; null where nothing is, or nothing is long. Judged as a whole, each of ten
 * thousand that are wrong would be told, which keeps everybody waiting.
 */
export function firstWrongArgument(schema: z.ZodType, given: unknown, name: string): string | null {
  if (schema instanceof z.ZodOptional) {
    return given === undefined ? null : firstWrongArgument(schema.unwrap() as z.ZodType, given, name)
  }
  if (typeof given !== 'object' || given === null) return null
  if (schema instanceof z.ZodObject) {
    for (const [member, value] of Object.entries(given)) {
      const its = (schema.shape as Record<string, z.ZodType | undefined>)[member]
      const wrong = its ? firstWrongArgument(its, value, member) : null
      if (wrong !== null) return wrong
    }
    return null
  }
  const element =
    schema instanceof z.ZodArray ? schema.element : schema instanceof z.ZodRecord ? schema.valueType : null
  if (element === null) return null
  const isLong = (Array.isArray(given) ? given : Object.keys(given)).length > longList
  // A list is not copied for the sake of its first few: it may have hundreds of thousands.
  for (const [at, value] of Array.isArray(given) ? given.entries() : Object.entries(given)) {
    const itsName = `${name}[${String(at).slice(0, 100)}]`
    const wrong = firstWrongArgument(element as z.ZodType, value, itsName)
    if (wrong !== null) return wrong
    if (!isLong) continue
    const parsed = (element as z.ZodType).safeParse(value)
    if (!parsed.success)
      return `${parsed.error.issues[0]?.message ?? 'Invalid input'}\n  \u2192 at ${itsName}`
  }
  return null
}
