import { z } from 'zod'
import { filterOperators } from '../../sheets/rows/query/operators.ts'
import type { Failure, Parameters, SheetsApi } from '../sheets-api.ts'

/** Something that an agent can do. Its schema is sent to a model with every conversation, so words are few. */
export interface Tool {
  name: string
  description: string
  /** What its key must be allowed to do. */
  needs: 'read' | 'add' | 'change'
  hints: { readOnlyHint?: true; destructiveHint?: boolean; idempotentHint?: true }
  input: z.ZodType
  run(api: SheetsApi, given: unknown): Promise<string | Failure>
}

/** Arguments are checked before `run` gets them. */
export function tool<Input extends z.ZodType>(
  parts: Omit<Tool, 'run' | 'input'> & {
    input: Input
    run(api: SheetsApi, given: z.infer<Input>): Promise<string | Failure>
  },
): Tool {
  return { ...parts, run: (api, given) => parts.run(api, given as z.infer<Input>) }
}

export const sheet = z.string().describe('id or name')
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])
export const row = z.record(z.string(), scalar)

const operators = filterOperators.join(' ')
export const where = z
  .record(z.string(), z.unknown())
  .describe(`{column: value} or {column: {operator: value}}; operators: ${operators}. All must hold.`)
export const dryRun = z.boolean().optional().describe('Only show what would happen')
export const requestId = z.string().min(1).max(200).optional().describe('Same id on a retry: done once')

/** What is wrong with the argument, in words. */
export class WrongArgument extends Error {
  override readonly name = 'WrongArgument'
}

/** As many as the API takes. */
const mostConditions = 50
const knownOperators: ReadonlySet<string> = new Set(filterOperators)

/** Each as it stands in an address. In brackets, so that no column is taken for a parameter of its name. */
export function filterParameters(filters: Record<string, unknown> = {}): [string, string][] {
  const conditions = Object.entries(filters)
  if (conditions.length > mostConditions)
    throw new WrongArgument(
      `There are ${conditions.length} conditions; at most ${mostConditions} are allowed.`,
    )
  return conditions.flatMap(([column, wish]) => {
    if (Array.isArray(wish)) return repeatedParameter(column, 'in', wish)
    if (typeof wish !== 'object' || wish === null) return [comparison(column, 'eq', wish)]
    const comparisons = Object.entries(wish)
    // What says nothing would leave out a condition, and a deletion would take more rows than were meant.
    if (comparisons.length === 0)
      throw new WrongArgument(`The condition for "${shortName(column)}" is empty.`)
    return comparisons.flatMap(([operator, value]) => {
      if (!knownOperators.has(operator))
        throw new WrongArgument(`"${shortName(operator)}" is no operator. There are ${operators}.`)
      if (Array.isArray(value)) return repeatedParameter(column, operator, value)
      return [comparison(column, operator, value)]
    })
  })
}

function comparison(column: string, operator: string, value: unknown): [string, string] {
  if (value === null || value === '') return [`${column}[empty]`, String(operator !== 'ne')]
  if (typeof value === 'object')
    throw new WrongArgument(`The value for "${shortName(column)}" is no single value.`)
  return [`${column}[${operator}]`, String(value)]
}

/** A list of one is sent twice: alone, a comma in it would part it. */
function repeatedParameter(column: string, operator: string, values: readonly unknown[]): [string, string][] {
  if (values.length === 0) throw new WrongArgument(`The list for "${shortName(column)}" is empty.`)
  if (values.some((value) => typeof value === 'object'))
    throw new WrongArgument(
      `The list for "${shortName(column)}" has more in it than texts, numbers, true and false.`,
    )
  const repeated = values.length === 1 ? [values[0], values[0]] : values
  return repeated.map((value) => [`${column}[${operator}]`, String(value)])
}

const shownCharacters = 100

function shortName(name: string): string {
  return name.length <= shownCharacters ? name : `${name.slice(0, shownCharacters)}…`
}

export function optional(name: string, value: string | number | boolean | undefined): Parameters {
  return value === undefined || value === false ? [] : [[name, String(value)]]
}
