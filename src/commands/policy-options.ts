import type { PolicyWish } from '../management/keys/key-policy.ts'
import type { PageRight, SetValue } from '../store/keys/key-policy.ts'
import { type Options, positiveNumber, UsageError } from './command.ts'

/** What bounds a publishable key, as options of a command. */
export const policyOptions = [
  'may',
  'origins',
  'read-columns',
  'write-columns',
  'where',
  'set',
  'max-rows',
  'per-minute',
] as const

export const policyUsage =
  '--may read|add|read,add --origins <list>|any [--read-columns <a,b>] [--write-columns <a,b>]\n' +
  "    [--where '<filters as in a query string>'] [--set <column=value,…>] [--max-rows <n>] [--per-minute <n>]"

export function policyIn(options: Options): PolicyWish {
  const { may = '', origins = '', where } = options
  const rights = listOf(may) as PageRight[]
  if (rights.length === 0 || rights.some((right) => right !== 'read' && right !== 'add'))
    throw new UsageError('--may is read, add or read,add.')
  if (origins === '')
    throw new UsageError('Name the pages by --origins https://example.com, or write --origins any.')
  const maxRows = positiveNumber('max-rows', options)
  const requestsPerMinute = positiveNumber('per-minute', options)
  return {
    may: rights,
    origins: origins === 'any' ? origins : listOf(origins),
    readColumns: columnsIn(options['read-columns']),
    writeColumns: columnsIn(options['write-columns']),
    where: where ?? null,
    set: setValues(options.set),
    ...(maxRows !== null && { maxRows }),
    ...(requestsPerMinute !== null && { requestsPerMinute }),
  }
}

function columnsIn(text: string | undefined): string[] | null {
  return text === undefined ? null : listOf(text)
}

export function listOf(text: string): string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}

/** `source=site,count=0`: a value that is `true`, `false` or a plain number is one; every other is a text. */
export function setValues(text: string | undefined): SetValue[] {
  return listOf(text ?? '').map((pair) => {
    const equals = pair.indexOf('=')
    if (equals < 1) throw new UsageError(`--set takes column=value, not "${pair}".`)
    return [pair.slice(0, equals).trim(), valueIn(pair.slice(equals + 1).trim())]
  })
}

function valueIn(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,14})?$/.test(text) ? Number(text) : text
}
