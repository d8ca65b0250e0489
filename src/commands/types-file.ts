/** What a file of types says of one sheet. */
export interface TypesOfSheet {
  row: ReadonlyMap<string, ReadonlySet<string>>
  /** What must be given when a row is added. */
  needed: ReadonlySet<string>
  /** The column that names rows; null where none does. */
  key: string | null
}

/** The sheets in a file of types by the names of their interfaces, however a formatter has laid it out since. */
export function readTypesFile(text: string): Map<string, TypesOfSheet> {
  const tokens = Array.from(text.matchAll(token), ([found]) => found).filter((found) => !comment.test(found))
  const sheets = new Map<string, TypesOfSheet>()
  for (const [at, word] of tokens.entries()) {
    if (word !== 'interface' || tokens[at + 2] !== '{') continue
    const { members } = block(tokens, at + 3)
    const row = members.get('Row')?.members
    const insert = members.get('Insert')?.members
    if (!row || !insert) continue
    const [key = 'never'] = members.get('Key')?.types ?? []
    sheets.set(tokens[at + 1] ?? '', {
      row: new Map(Array.from(row, ([name, { types }]) => [name, new Set(types.flatMap(spellOutType))])),
      needed: new Set([...insert].filter(([, { isOptional }]) => !isOptional).map(([name]) => name)),
      key: key === 'never' ? null : nameIn(key),
    })
  }
  return sheets
}

const comment = /^\/[/*]/
const token = /\/\*[\s\S]*?\*\/|\/\/.*|`[^`]*`|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[\p{L}\p{N}_$]+|[{}:?|]/gu

interface Member {
  isOptional: boolean
  types: string[]
  /** The members of a type in braces. */
  members: Map<string, Member> | null
}

/** The members from here to the closing brace, and where it goes on. */
function block(tokens: readonly string[], from: number): { members: Map<string, Member>; next: number } {
  const members = new Map<string, Member>()
  let at = from
  while (at < tokens.length && tokens[at] !== '}') {
    const name = nameIn(tokens[at++] ?? '')
    const isOptional = tokens[at] === '?'
    at += isOptional ? 2 : 1
    if (tokens[at] === '{') {
      const inner = block(tokens, at + 1)
      members.set(name, { isOptional, types: [], members: inner.members })
      at = inner.next
      continue
    }
    if (tokens[at] === '|') at++
    const types = [tokens[at++] ?? '']
    for (; tokens[at] === '|'; at += 2) types.push(tokens[at + 1] ?? '')
    members.set(name, { isOptional, types, members: null })
  }
  return { members, next: at + 1 }
}

function nameIn(token: string): string {
  if (token.startsWith('"')) return JSON.parse(token) as string
  return token.startsWith("'") ? token.slice(1, -1).replaceAll(/\\(.)/g, '$1') : token
}

function spellOutType(type: string): string[] {
  return type === 'Cell' ? ['string', 'number', 'boolean', 'null'] : [type]
}

/** Why a program that was compiled with `then` may be wrong about the sheet as it is `now`; empty while it fits. */
export function whatNoLongerFits(then: TypesOfSheet, now: TypesOfSheet): string[] {
  const problems: string[] = []
  for (const [column, types] of then.row) {
    const held = now.row.get(column)
    if (!held) {
      problems.push(`Column ${JSON.stringify(column)} no longer exists.`)
      continue
    }
    const others = [...held].filter((type) => !covers(types, type))
    if (others.length > 0)
      problems.push(
        `Column ${JSON.stringify(column)} is ${[...held].join(' | ')} now, and the file says ${[...types].join(' | ')}.`,
      )
  }
  if (then.key !== null && then.key !== now.key)
    problems.push(
      `Rows are no longer named by ${JSON.stringify(then.key)}${now.key === null ? '' : `, but by ${JSON.stringify(now.key)}`}.`,
    )
  for (const column of now.needed)
    if (!then.needed.has(column))
      problems.push(`A row that is added needs a value for ${JSON.stringify(column)} now.`)
  return problems
}

function covers(types: ReadonlySet<string>, type: string): boolean {
  return types.has(type) || (type.endsWith('Text') && types.has('string'))
}
