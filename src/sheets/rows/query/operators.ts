/**
 * How cells can be asked for. `query.ts` has the rule for each operator, and `code-verdicts.ts` its matcher: without one
 * it does not compile. Whatever else knows operators goes by this table: parsing, descriptions, and the dashboard, which
 * imports it, so it imports nothing.
 */
interface OperatorEntry {
  takes: keyof typeof argumentKinds
  /** What a cell is held against; operators of one kind stand together where people choose one. */
  compares: 'equality' | 'text' | 'order' | 'emptiness'
  /** Between a column and a value, for people; null where the dashboard does not offer it. */
  words: string | null
}

/** What follows from what an operator takes: whoever adds a kind says all of it here. */
interface ArgumentKind {
  /** Any number of values, of which one is enough. */
  isList: boolean
  /** The label of the field in which people type it; null where there is nothing to type, and `true` is meant. */
  label: string | null
  /** Behind "takes", in descriptions; null for what goes without saying. */
  description: string | null
}

export const argumentKinds = {
  value: { isList: false, label: 'Value', description: null },
  list: {
    isList: true,
    label: 'Values, comma-separated',
    description: '`a,b`, or one value in each repetition',
  },
  boolean: { isList: false, label: null, description: '`true` or `false`' },
} as const satisfies Record<string, ArgumentKind>

export function argumentOf(operator: FilterOperator): ArgumentKind {
  return argumentKinds[operatorTable[operator].takes]
}

export const operatorTable = {
  eq: { takes: 'value', compares: 'equality', words: 'is' },
  ne: { takes: 'value', compares: 'equality', words: 'is not' },
  gt: { takes: 'value', compares: 'order', words: 'is greater than' },
  gte: { takes: 'value', compares: 'order', words: 'is at least' },
  lt: { takes: 'value', compares: 'order', words: 'is less than' },
  lte: { takes: 'value', compares: 'order', words: 'is at most' },
  in: { takes: 'list', compares: 'equality', words: 'is one of' },
  nin: { takes: 'list', compares: 'equality', words: 'is none of' },
  contains: { takes: 'value', compares: 'text', words: 'contains' },
  starts: { takes: 'value', compares: 'text', words: 'starts with' },
  ends: { takes: 'value', compares: 'text', words: 'ends with' },
  empty: { takes: 'boolean', compares: 'emptiness', words: 'is empty' },
} as const satisfies Record<string, OperatorEntry>

export type FilterOperator = keyof typeof operatorTable

export const filterOperators = Object.keys(operatorTable) as FilterOperator[]

/** Those that the dashboard offers, with their words, kind by kind. */
export const offeredOperators: readonly { operator: FilterOperator; words: string }[] = (
  ['equality', 'text', 'order', 'emptiness'] satisfies OperatorEntry['compares'][]
).flatMap((kind) =>
  filterOperators.flatMap((operator) => {
    const { compares, words } = operatorTable[operator]
    return compares === kind && words !== null ? [{ operator, words }] : []
  }),
)
