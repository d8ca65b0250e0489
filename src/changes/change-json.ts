import type { TextPart } from './long-text.ts'
import type { LongName } from './read-change.ts'
import type { ToldChange } from './reading-changes.ts'

/** One change as clients are told it (docs/api.md#changes), where none of its texts is in the store. */
export function changeJson(told: ToldChange): string {
  return changeParts(told).join('')
}

/** Rows are put in as the text that they are. */
export function changeParts({ cursor, atMs, change, long }: ToldChange): TextPart[] {
  const { kind, row = null, changed, renamed, isByPosition, operation = null, by = null } = change
  const textOf = (name: LongName) => long?.[name] ?? change[name] ?? 'null'
  const more =
    (changed ? `,"changed":${JSON.stringify(changed)}` : '') +
    (renamed ? `,"renamed":${JSON.stringify(renamed.map(([from, to]) => ({ from, to })))}` : '') +
    (isByPosition ? ',"identity":"position"' : '')
  const whose = `"source":"${operation === null ? 'outside' : 'api'}","operation":${JSON.stringify(operation)},"by":${JSON.stringify(by)}`
  return [
    `{"cursor":"${cursor}","at":"${new Date(atMs).toISOString()}","kind":"${kind}","row":${row},"key":`,
    textOf('key'),
    ',"before":',
    textOf('before'),
    ',"after":',
    textOf('after'),
    `${more},${whose}}`,
  ]
}
