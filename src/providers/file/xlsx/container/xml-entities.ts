import { xlsxFailure } from './failure.ts'

const NAMED: ReadonlyMap<string, string> = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
])

const REFERENCE = /&(?:#x([0-9a-fA-F]{1,6});|#([0-9]{1,7});|(lt|gt|amp|quot|apos);)?/g

/** Without a DTD there are the five names of XML and numbers, nothing that can grow. */
export function decodeXmlEntities(text: string): string {
  if (!text.includes('&')) return text
  const decoded = text.replace(REFERENCE, (_all, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return NAMED.get(name) ?? ''
    const codePoint = hex !== undefined ? Number.parseInt(hex, 16) : Number(decimal)
    if (!(codePoint > 0 && codePoint <= 0x10ffff)) throw xlsxFailure('damaged', 'unknown XML entity')
    return String.fromCodePoint(codePoint)
  })
  // Some writers give the two halves of an emoji a number each.
  return decoded.toWellFormed()
}
