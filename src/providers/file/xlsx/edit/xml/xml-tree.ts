import { xlsxFailure } from '../../container/failure.ts'
import { MAX_XML_ELEMENTS } from '../../container/limits.ts'
import { createXmlScanner, type XmlScanner } from '../../container/xml.ts'
import { decodeXmlEntities } from '../../container/xml-entities.ts'

/** One attribute, from where the one before ends: the scanner has seen that a tag consists of nothing else. */
const ATTRIBUTE = /\s*([^\s=]+)\s*=\s*("[^"]*"|'[^']*')/y
const END_OF_NAME = /[\s/>]/

/** An element and where it stands in the text, so that a change can leave everything around it as it is. */
export class XmlElement {
  /** Without its prefix. */
  readonly name: string
  readonly parent: XmlElement | null
  readonly children: XmlElement[] = []
  /** The opening tag stands from `start` to `openEnd`, the closing one from `closeStart` to `end`. */
  readonly start: number
  readonly openEnd: number
  closeStart = -1
  end = -1
  readonly #text: string

  constructor(text: string, name: string, parent: XmlElement | null, start: number, openEnd: number) {
    this.#text = text
    this.name = name
    this.parent = parent
    this.start = start
    this.openEnd = openEnd
  }

  get closesItself(): boolean {
    return this.closeStart === this.start
  }

  /** `x:` of `<x:row>`, or nothing. */
  get prefix(): string {
    const tag = this.openingTag.slice(1).match(/^[^\s/>]*/)?.[0] ?? ''
    return tag.slice(0, tag.indexOf(':') + 1)
  }

  get openingTag(): string {
    return this.#text.slice(this.start, this.openEnd)
  }

  attribute(name: string): string | undefined {
    const span = this.attributeSpan(name)
    return span && decodeXmlEntities(this.#text.slice(span.valueStart + 1, span.end - 1))
  }

  /** Where an attribute stands in the text, its value with its quotes. */
  attributeSpan(name: string): { start: number; valueStart: number; end: number } | undefined {
    const tag = this.openingTag
    ATTRIBUTE.lastIndex = tag.search(END_OF_NAME)
    for (let match = ATTRIBUTE.exec(tag); match !== null; match = ATTRIBUTE.exec(tag)) {
      if (match[1] !== name) continue
      const end = this.start + match.index + match[0].length
      const start = this.start + match.index + match[0].search(/\S/)
      return { start, valueStart: end - (match[2]?.length ?? 0), end }
    }
    return undefined
  }

  child(name: string): XmlElement | undefined {
    return this.children.find((element) => element.name === name)
  }

  /** Its own text; meant for elements that have nothing else. */
  get text(): string {
    if (this.closesItself) return ''
    const raw = this.#text.slice(this.openEnd, this.closeStart).replace(/<!--[\s\S]*?-->/g, '')
    if (!raw.includes('<![CDATA[')) return decodeXmlEntities(raw)
    return raw
      .split(/<!\[CDATA\[([\s\S]*?)\]\]>/)
      .map((piece, at) => (at % 2 === 1 ? piece : decodeXmlEntities(piece)))
      .join('')
  }

  /** All elements inside, in the order of the text. */
  *descendants(): Generator<XmlElement> {
    for (const element of this.children) {
      yield element
      yield* element.descendants()
    }
  }
}

export interface XmlTreeBuilder {
  open(name: string, scanner: XmlScanner): XmlElement
  close(scanner: XmlScanner): void
  root(): XmlElement
}

export function createXmlTreeBuilder(text: string): XmlTreeBuilder {
  let root: XmlElement | undefined
  let current: XmlElement | null = null
  let count = 0
  return {
    open(name, scanner) {
      if (++count > MAX_XML_ELEMENTS) throw xlsxFailure('tooLarge', 'too many XML elements')
      const element: XmlElement = new XmlElement(text, name, current, scanner.tagStart, scanner.tagEnd)
      if (current === null) root = element
      else current.children.push(element)
      current = element
      return element
    },
    close(scanner) {
      if (current === null) return
      current.closeStart = scanner.tagStart
      current.end = scanner.tagEnd
      current = current.parent
    },
    root() {
      if (root === undefined) throw xlsxFailure('damaged', 'XML without a root')
      return root
    },
  }
}

/** The whole of a small part, or of one row. */
export function readXmlTree(text: string): XmlElement {
  const builder = createXmlTreeBuilder(text)
  const scanner = createXmlScanner({
    open: (name) => {
      builder.open(name, scanner)
    },
    close: () => builder.close(scanner),
  })
  scanText(scanner, text)
  return builder.root()
}

const PIECE_CHARS = 256 * 1024

/** Hands the text on in pieces, so that the bounds on what may stay unfinished are those of reading. */
export function scanText(scanner: XmlScanner, text: string): void {
  for (let at = 0; at < text.length; at += PIECE_CHARS) scanner.write(text.slice(at, at + PIECE_CHARS))
  scanner.end()
}
