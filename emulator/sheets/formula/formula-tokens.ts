export type Token =
  | { kind: 'number'; value: number }
  | { kind: 'text'; value: string }
  | { kind: 'reference'; value: string }
  | { kind: 'name'; value: string }
  | { kind: 'sign'; value: string }

const PATTERNS: [Token['kind'] | 'space', RegExp][] = [
  ['space', /^\s+/],
  ['number', /^(\d+\.?\d*|\.\d+)(?:E[+-]?\d+)?/i],
  ['text', /^"((?:[^"]|"")*)"/],
  [
    'reference',
    /^(?:(?:'(?:[^']|'')+'|[\p{L}_][\p{L}\p{N}_.]*)!)?\$?[A-Z]{1,3}\$?\d+(?::\$?[A-Z]{1,3}\$?\d+)?(?![\p{L}\p{N}_(])/iu,
  ],
  [
    'reference',
    /^(?:(?:'(?:[^']|'')+'|[\p{L}_][\p{L}\p{N}_.]*)!)?\$?[A-Z]{1,3}\d*:\$?[A-Z]{1,3}\d*(?![\p{L}\p{N}_(])/iu,
  ],
  ['name', /^[\p{L}_][\p{L}\p{N}_.]*/u],
  ['sign', /^(<>|<=|>=|[-+*/^&=<>%(),;])/],
]

/** undefined where the text is no formula Google would take. */
export function tokensOf(text: string): Token[] | undefined {
  const tokens: Token[] = []
  let rest = text
  while (rest !== '') {
    const found = PATTERNS.map(([kind, pattern]) => ({ kind, match: pattern.exec(rest) })).find(
      (one) => one.match,
    )
    if (!found?.match) return undefined
    const [all] = found.match
    if (found.kind === 'number') tokens.push({ kind: 'number', value: Number(all) })
    else if (found.kind === 'text') {
      tokens.push({ kind: 'text', value: (found.match[1] ?? '').replaceAll('""', '"') })
    } else if (found.kind !== 'space') tokens.push({ kind: found.kind, value: all })
    rest = rest.slice(all.length)
  }
  return tokens
}
