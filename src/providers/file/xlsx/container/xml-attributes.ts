import { xlsxFailure } from './failure.ts'
import { MAX_XML_ATTRIBUTES } from './limits.ts'
import { decodeXmlEntities } from './xml-entities.ts'

/** The attributes of the tag being opened; valid during the call that hands them over. */
export interface XmlAttributes {
  get(name: string): string | undefined
  /** The attribute of that local name under whichever prefix, as `r:id`. */
  getPrefixed(localName: string): string | undefined
}

export interface XmlAttributeList extends XmlAttributes {
  /** Remembers where names and values stand; most of them nobody asks for. */
  reset(source: string): void
  add(nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): void
}

export function createXmlAttributeList(): XmlAttributeList {
  let source = ''
  const positions: number[] = []
  let used = 0

  const position = (index: number): number => positions[index] ?? 0

  function value(index: number): string {
    const raw = source.slice(position(index + 2), position(index + 3))
    if (!/[<&\t\n\r]/.test(raw)) return raw
    if (raw.includes('<')) throw xlsxFailure('damaged', 'XML attribute value with <')
    return decodeXmlEntities(raw.replace(/\r\n|[\t\n\r]/g, ' '))
  }

  return {
    reset(newSource) {
      source = newSource
      used = 0
    },
    add(nameStart, nameEnd, valueStart, valueEnd) {
      if (used === 4 * MAX_XML_ATTRIBUTES)
        throw xlsxFailure('damaged', 'XML element with too many attributes')
      positions[used++] = nameStart
      positions[used++] = nameEnd
      positions[used++] = valueStart
      positions[used++] = valueEnd
    },
    get(name) {
      for (let index = 0; index < used; index += 4) {
        const start = position(index)
        if (position(index + 1) - start === name.length && source.startsWith(name, start)) return value(index)
      }
      return undefined
    },
    getPrefixed(localName) {
      const suffix = `:${localName}`
      for (let index = 0; index < used; index += 4) {
        if (source.slice(position(index), position(index + 1)).endsWith(suffix)) return value(index)
      }
      return undefined
    },
  }
}
