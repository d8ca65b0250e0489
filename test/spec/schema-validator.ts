/** Any JSON. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }
type Schema = { [key: string]: Json }

/**
 * What is wrong with a value, by a JSON Schema 2020-12; empty when nothing is. Only the keywords that our schemas use:
 * another one throws, so that nothing is taken for checked that is not.
 */
export function problemsWith(value: Json, schema: Json, root: Json, at = '$'): string[] {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    throw new Error(`No schema at ${at}`)
  return Object.entries(schema).flatMap(([keyword, rule]) => {
    const check = keywords[keyword]
    if (!check) throw new Error(`Unknown keyword "${keyword}" at ${at}`)
    return check(rule, value, { schema, root, at })
  })
}

interface Context {
  schema: Schema
  root: Json
  at: string
}

type Check = (rule: Json, value: Json, context: Context) => string[]

const nothing: Check = () => []

const keywords: Record<string, Check> = {
  $schema: nothing,
  title: nothing,
  description: nothing,
  examples: nothing,
  default: nothing,
  $ref: (rule, value, { root, at }) => problemsWith(value, lookedUp(String(rule), root), root, at),
  type(rule, value, { at }) {
    const types = Array.isArray(rule) ? rule : [rule]
    return types.some((type) => isOfType(value, String(type)))
      ? []
      : [`${at}: ${JSON.stringify(value)} is no ${types}`]
  },
  enum: (rule, value, { at }) =>
    (rule as Json[]).includes(value) ? [] : [`${at}: ${JSON.stringify(value)} is not among the choices`],
  const: (rule, value, { at }) => (rule === value ? [] : [`${at}: is not ${JSON.stringify(rule)}`]),
  properties(rule, value, { root, at }) {
    if (!isObject(value)) return []
    const own = new Map(Object.entries(rule as Schema))
    return Object.entries(value).flatMap(([key, member]) => {
      const schema = own.get(key)
      return schema === undefined ? [] : problemsWith(member, schema, root, `${at}.${key}`)
    })
  },
  required: (rule, value, { at }) =>
    (rule as string[]).flatMap((key) =>
      isObject(value) && !Object.hasOwn(value, key) ? [`${at}: lacks ${key}`] : [],
    ),
  additionalProperties(rule, value, { schema, root, at }) {
    if (!isObject(value)) return []
    const known = new Set(Object.keys((schema.properties as Schema | undefined) ?? {}))
    return Object.entries(value).flatMap(([key, member]) => {
      if (known.has(key) || rule === true) return []
      return rule === false ? [`${at}: has ${key}`] : problemsWith(member, rule, root, `${at}.${key}`)
    })
  },
  items: (rule, value, { root, at }) =>
    Array.isArray(value) ? value.flatMap((item, n) => problemsWith(item, rule, root, `${at}[${n}]`)) : [],
  minItems: (rule, value, { at }) =>
    Array.isArray(value) && value.length < Number(rule) ? [`${at}: too few`] : [],
  maxItems: (rule, value, { at }) =>
    Array.isArray(value) && value.length > Number(rule) ? [`${at}: too many`] : [],
  minProperties: (rule, value, { at }) =>
    isObject(value) && Object.keys(value).length < Number(rule) ? [`${at}: too few`] : [],
  minimum: (rule, value, { at }) =>
    typeof value === 'number' && value < Number(rule) ? [`${at}: too small`] : [],
  minLength: (rule, value, { at }) =>
    typeof value === 'string' && value.length < Number(rule) ? [`${at}: too short`] : [],
  maxLength: (rule, value, { at }) =>
    typeof value === 'string' && value.length > Number(rule) ? [`${at}: too long`] : [],
  pattern: (rule, value, { at }) =>
    typeof value === 'string' && !new RegExp(String(rule), 'u').test(value)
      ? [`${at}: ${value} is no ${rule}`]
      : [],
  format(rule, value, { at }) {
    const shape = formats[String(rule)]
    if (!shape) throw new Error(`Unknown format ${rule}`)
    return typeof value === 'string' && !shape.test(value) ? [`${at}: ${value} is no ${rule}`] : []
  },
  anyOf: (rule, value, { root, at }) => someOf(rule, value, root, at, (matching) => matching > 0),
  allOf: (rule, value, { root, at }) =>
    (rule as Json[]).flatMap((schema) => problemsWith(value, schema, root, at)),
  oneOf: (rule, value, { root, at }) => someOf(rule, value, root, at, (matching) => matching === 1),
}

/** As RFC 3339 has them, zone included. */
const formats: Record<string, RegExp> = {
  date: /^\d{4}-\d{2}-\d{2}$/,
  'date-time': /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/i,
}

function someOf(
  rule: Json,
  value: Json,
  root: Json,
  at: string,
  isEnough: (matching: number) => boolean,
): string[] {
  const outcomes = (rule as Json[]).map((schema) => problemsWith(value, schema, root, at))
  return isEnough(outcomes.filter((problems) => problems.length === 0).length) ? [] : outcomes.flat()
}

function isOfType(value: Json, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'array') return Array.isArray(value)
  if (type === 'null') return value === null
  return type === 'object' ? isObject(value) : typeof value === type
}

function isObject(value: Json): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function lookedUp(reference: string, root: Json): Json {
  let found: Json | undefined = root
  for (const key of reference.replace(/^#\//, '').split('/')) {
    found = found !== undefined && isObject(found) ? found[key] : undefined
  }
  if (found === undefined) throw new Error(`${reference} leads nowhere`)
  return found
}
