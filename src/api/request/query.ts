import { Refusal } from '../../errors.ts'
import { decodeOrNull } from '../../http/target.ts'

/** The query's parameters in order, decoded; a name may come several times. */
export type Parameters = readonly (readonly [name: string, value: string])[]

export const noParameters: Parameters = []

/** A thousand values to filter by, each for itself, and all else. They are looked at before anybody knows who asks. */
const maxParameters = 1_200

export function parseParameters(query: string | null): Parameters | Refusal {
  if (query === null || query === '') return noParameters
  const taken = pairsOf(query)
  if (taken.length > maxParameters)
    return new Refusal('invalid_query', { details: 'A query may have 1,200 parameters; this one has more.' })
  const pairs = taken.filter((pair) => pair !== '')
  const parameters = readable(pairs)
  if (parameters.length === pairs.length) return parameters
  return new Refusal('invalid_query', { details: 'The percent-encoding of the query is broken.' })
}

/** What can be read of a query: a key in it is judged also beside a broken neighbour. */
export function readableParameters(query: string | null): Parameters {
  return query === null ? noParameters : readable(pairsOf(query))
}

/** One more than there may be; the rest is not even taken apart. */
function pairsOf(query: string): string[] {
  return query.split('&', maxParameters + 1)
}

function readable(pairs: readonly string[]): Parameters {
  const parameters: [string, string][] = []
  for (const pair of pairs) {
    const equals = pair.indexOf('=')
    const name = decodePart(equals === -1 ? pair : pair.slice(0, equals))
    const value = decodePart(equals === -1 ? '' : pair.slice(equals + 1))
    if (name !== null && value !== null) parameters.push([name, value])
  }
  return parameters
}

/** In a query, forms and most clients write a space as a plus. */
function decodePart(text: string): string | null {
  return decodeOrNull(text.includes('+') ? text.replaceAll('+', ' ') : text)
}

/**
 * The row stands in the path or in `?row=`; both given and different is refused (docs/contract.md#one-row). `undefined`
 * when no row is asked for. A number too large to exist is a number all the same, and is simply not found.
 */
export function parseRowNumber(
  { rowText: inPath, named }: { rowText: string | null; named?: object | undefined },
  parameters: Parameters,
): number | Refusal | undefined {
  const given = parameters.filter(([name]) => name === 'row').map(([, value]) => value)
  if (inPath !== null) given.unshift(inPath)
  if (given.length === 0) return undefined
  if (named)
    return new Refusal('invalid_row_number', { details: 'The URL already names the row by a value.' })
  const numbers = new Set(given.map(wholeNumber))
  const [number] = numbers
  if (numbers.size > 1)
    return new Refusal('invalid_row_number', { details: 'Two different row numbers were given.' })
  if (number === null || number === undefined || number < 2) return new Refusal('invalid_row_number')
  return number
}

export function wholeNumber(text: string): number | null {
  return /^(?:0|[1-9][0-9]{0,99})$/.test(text) ? Number(text) : null
}
