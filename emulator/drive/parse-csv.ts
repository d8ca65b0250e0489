/** RFC 4180, with any end of line; tabs are never quoted. */
export function parseSeparated(text: string, separator: ',' | '\t'): string[][] {
  const whole = text.replace(/^\uFEFF/, '').replace(/\r?\n$/, '')
  if (whole === '') return []
  if (separator === '\t') return whole.split(/\r?\n/).map((line) => line.split('\t'))
  const rows: string[][] = [[]]
  // A field, quoted or not, and what ends it; the last one is ended by the text itself.
  for (const [, quoted, plain = '', end] of whole.matchAll(
    /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|\r|$)/g,
  )) {
    rows.at(-1)?.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === '') break
    if (end !== ',') rows.push([])
  }
  return rows
}
