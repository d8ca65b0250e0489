import { Refusal } from '../../errors.ts'
import { shortenName } from '../../sheets/rows/column-name.ts'
import { nearestName } from '../../sheets/rows/nearest-name.ts'
import {
  type Aggregate,
  dateParts,
  folds,
  type GroupKey,
  resultNames,
  type Sums,
} from '../../sheets/rows/sums/sums.ts'
import { resultColumns } from '../../sheets/rows/sums/sums-snapshot.ts'
import type { Column } from '../../sheets/rows/table.ts'
import { type Find, finderOf, meant, unknownColumn } from './column-finder.ts'
import { invalid, type SumsWish } from './read-wish.ts'

/** Sums beside the header: columns by their position. */
export interface ResolvedSums extends Sums {
  /** The columns of the result. */
  columns: readonly Column[]
}

/** More would be no question of a person or a program: each one takes a look at every row. */
const maxGroupKeys = 10
const maxAggregates = 20

/** `aggregate=count(),sum(price)` with `group_by=category,month(day)` or without; `distinct=city` is short for a count by city. */
export function resolveSums(wish: SumsWish, columns: readonly Column[]): ResolvedSums | Refusal {
  const { aggregate, groupBy: grouped, distinct } = wish
  if (distinct.length > 0 && aggregate.length + grouped.length > 0)
    return invalid('"distinct" stands alone: it is short for "group_by" with "aggregate=count()".')
  const find = finderOf(columns)
  const groupBy: GroupKey[] = []
  const parameter = distinct.length > 0 ? 'distinct' : 'group_by'
  for (const text of partsOf([...distinct, ...grouped], find)) {
    const key = groupKey(text, parameter, columns, find)
    if (key instanceof Refusal) return key
    if (!groupBy.some((one) => one.column === key.column && one.part === key.part)) groupBy.push(key)
  }
  const aggregates: Aggregate[] = []
  for (const text of partsOf(aggregate, find)) {
    const made = aggregateOf(text, columns, find)
    if (made instanceof Refusal) return made
    if (!aggregates.some((one) => one.fold === made.fold && one.column === made.column)) aggregates.push(made)
  }
  if (aggregates.length === 0) aggregates.push({ fold: 'count', column: null })
  if (groupBy.length > maxGroupKeys) return invalid(`"${parameter}" may name ${maxGroupKeys} columns.`)
  if (aggregates.length > maxAggregates) return invalid(`"aggregate" may name ${maxAggregates} figures.`)
  const sums = { groupBy, aggregates }
  return { ...sums, columns: resultColumns(resultNames(sums, columns)) }
}

function groupKey(
  text: string,
  parameter: string,
  columns: readonly Column[],
  find: Find,
): GroupKey | Refusal {
  const plain = find(text)
  if (plain instanceof Refusal) return plain
  if (plain !== null) return { column: plain, part: null }
  const call = callIn(text)
  if (!call) return unknownColumn(text, parameter, columns)
  const part = dateParts.find((one) => one === call.name)
  if (!part) return unknownFunction(call.name, parameter, dateParts)
  const column = find(call.inside)
  if (column instanceof Refusal) return column
  return column === null ? unknownColumn(call.inside, parameter, columns) : { column, part }
}

function aggregateOf(text: string, columns: readonly Column[], find: Find): Aggregate | Refusal {
  const call = callIn(text)
  if (!call)
    return invalid(
      `"${shortenName(text)}" is no figure: "aggregate" takes ${folds.join(', ')}, as in "sum(price)".`,
    )
  const fold = folds.find((one) => one === call.name)
  if (!fold) return unknownFunction(call.name, 'aggregate', folds)
  if (call.inside === '') {
    return fold === 'count' ? { fold, column: null } : invalid(`"${fold}()" lacks the name of a column.`)
  }
  const column = find(call.inside)
  if (column instanceof Refusal) return column
  return column === null ? unknownColumn(call.inside, 'aggregate', columns) : { fold, column }
}

function unknownFunction(name: string, parameter: string, names: readonly string[]): Refusal {
  return invalid(
    `There is no function "${shortenName(name)}" for "${parameter}".${meant(nearestName(name, names))} There are ${names.join(', ')}.`,
  )
}

const callPattern = /^([a-z_]+)\((.*)\)$/is

function callIn(text: string): { name: string; inside: string } | null {
  const [, name, inside] = callPattern.exec(text) ?? []
  return name === undefined || inside === undefined
    ? null
    : { name: name.toLowerCase(), inside: inside.trim() }
}

/** At commas outside brackets, unless the whole is a name, or the call of a function with a name in it that has commas. */
function partsOf(given: readonly string[], find: Find): string[] {
  return given.flatMap((text) => {
    const whole = text.trim()
    const inside = callIn(whole)?.inside
    const isOne = find(whole) !== null || (inside !== undefined && inside !== '' && find(inside) !== null)
    return isOne ? [whole] : splitOutsideBrackets(whole)
  })
}

function splitOutsideBrackets(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let from = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '(') depth++
    else if (text[at] === ')') depth--
    else if (text[at] === ',' && depth <= 0) {
      parts.push(text.slice(from, at).trim())
      from = at + 1
    }
  }
  parts.push(text.slice(from).trim())
  return parts
}
