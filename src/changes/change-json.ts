import type { ToldChange } from './reading-changes.ts'

/** One change as clients are told it (docs/api.md#changes). Rows are put in as the text that they are. */
export function changeJson({ cursor, atMs, change }: ToldChange): string {
  const { kind, row = null, key = 'null', before = 'null', after = 'null' } = change
  const { changed, renamed, isByPosition, operation = null, by = null } = change
  const more =
    (changed ? `,"changed":${JSON.stringify(changed)}` : '') +
    (renamed ? `,"renamed":${JSON.stringify(renamed.map(([from, to]) => ({ from, to })))}` : '') +
    (isByPosition ? ',"identity":"position"' : '')
  const whose = `"source":"${operation === null ? 'outside' : 'api'}","operation":${JSON.stringify(operation)},"by":${JSON.stringify(by)}`
  return (
    `{"cursor":"${cursor}","at":"${new Date(atMs).toISOString()}","kind":"${kind}","row":${row},"key":${key},` +
    `"before":${before},"after":${after}${more},${whose}}`
  )
}
