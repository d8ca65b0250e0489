/** The `fields` parameter: a,b.c,d(e,f/g) as a tree, and the part of an answer it keeps. */

export type Mask = Map<string, Mask> | 'all'

/** undefined where the text is malformed. */
export function parseMask(text: string): Mask | undefined {
  const parser = { text, at: 0 }
  const mask = parseList(parser)
  return mask && parser.at === text.length ? mask : undefined
}

function parseList(parser: { text: string; at: number }): Mask | undefined {
  const tree = new Map<string, Mask>()
  let all = false
  for (;;) {
    const path: string[] = []
    for (;;) {
      const name = /^\s*(\*|[A-Za-z_][A-Za-z0-9_]*)\s*/.exec(parser.text.slice(parser.at))
      if (!name) return undefined
      parser.at += name[0].length
      path.push(camelCase(name[1] ?? ''))
      const next = parser.text[parser.at]
      if (next !== '.' && next !== '/') break
      parser.at += 1
    }
    let sub: Mask = 'all'
    if (parser.text[parser.at] === '(') {
      parser.at += 1
      const inner = parseList(parser)
      if (!inner || parser.text[parser.at] !== ')') return undefined
      parser.at += 1
      sub = inner
    }
    if (path.length === 1 && path[0] === '*' && sub === 'all') all = true
    else insert(tree, path, sub)
    if (parser.text[parser.at] !== ',') return all ? 'all' : tree
    parser.at += 1
  }
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function insert(tree: Map<string, Mask>, path: string[], sub: Mask): void {
  const [head, ...rest] = path
  if (head === undefined) return
  const old = tree.get(head)
  if (old === 'all') return
  if (rest.length > 0 && !(rest.length === 1 && rest[0] === '*')) {
    const child = old ?? new Map<string, Mask>()
    insert(child, rest, sub)
    tree.set(head, child)
  } else if (sub === 'all' || old === undefined) {
    tree.set(head, sub)
  } else {
    for (const [key, value] of sub) insert(old, [key], value)
  }
}

export function maskFor(mask: Mask | undefined, ...path: string[]): Mask | undefined {
  let at = mask
  for (const name of path) {
    if (at === undefined || at === 'all') return at
    at = at.get(name) ?? at.get('*')
  }
  return at
}

/** Lists keep their length: an element of which nothing is left stays as {}. */
export function applyMask(value: unknown, mask: Mask): unknown {
  if (mask === 'all' || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((element) => applyMask(element, mask))
  const kept: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const sub = mask.get(key) ?? mask.get('*')
    if (sub !== undefined) kept[key] = applyMask((value as Record<string, unknown>)[key], sub)
  }
  return kept
}

/** All leaf paths of a mask, as update requests need them. */
export function maskPaths(mask: Mask, prefix: string[] = []): string[][] {
  if (mask === 'all') return [prefix]
  return [...mask].flatMap(([key, sub]) => maskPaths(sub, [...prefix, key]))
}
