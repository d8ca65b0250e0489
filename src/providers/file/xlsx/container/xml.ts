import { xlsxFailure } from './failure.ts'
import { MAX_XML_DEPTH, MAX_XML_TOKEN_CHARS } from './limits.ts'
import { createXmlAttributeList, type XmlAttributes } from './xml-attributes.ts'
import { decodeXmlEntities } from './xml-entities.ts'

/** Names come without their prefix. The root element has depth 1; text has the depth of its element. */
export interface XmlHandler {
  open?(name: string, depth: number, attributes: XmlAttributes): void
  text?(text: string, depth: number): void
  close?(name: string, depth: number): void
}

export interface XmlScanner {
  /**
   * Where the tag being opened or closed stands in all that was written; valid during that call. An element that
   * closes itself is opened and closed at one place.
   */
  readonly tagStart: number
  readonly tagEnd: number
  write(text: string): void
  end(): void
}

const INCOMPLETE = -1
const TAB = 9
const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const SPACE = 32
const EXCLAMATION = 33
const DOUBLE_QUOTE = 34
const APOSTROPHE = 39
const SLASH = 47
const LESS = 60
const EQUALS = 61
const GREATER = 62
const QUESTION = 63

/**
 * Checks what a cut or mangled file would break: nesting, quoting, one root. A document type is refused outright,
 * as OPC does (ECMA-376-2, 8.1.4), so there are no entities to expand or fetch.
 */
export function createXmlScanner(handler: XmlHandler): XmlScanner {
  let buffer = ''
  /** How much was written and forgotten before what the buffer holds. */
  let bufferStart = 0
  let tagStart = 0
  let tagEnd = 0
  let rootSeen = false
  let depth = 0
  /** The tag last opened at each depth, prefix and all, and its local name: rows of cells repeat them. */
  const tags: string[] = ['']
  const names: string[] = ['']
  const attributes = createXmlAttributeList()

  function scan(): number {
    let at = 0
    for (;;) {
      const markup = buffer.indexOf('<', at)
      if (markup === -1) return at
      if (markup > at) emitText(buffer.slice(at, markup))
      const end = scanMarkup(markup)
      if (end === INCOMPLETE) return markup
      at = end
    }
  }

  function scanMarkup(start: number): number {
    if (start + 1 === buffer.length) return INCOMPLETE
    switch (buffer.charCodeAt(start + 1)) {
      case SLASH:
        return scanClosingTag(start)
      case QUESTION:
        return endAfter('?>', start + 2)
      case EXCLAMATION:
        return scanDeclaration(start)
      default:
        return scanOpeningTag(start)
    }
  }

  function endAfter(terminator: string, from: number): number {
    const found = buffer.indexOf(terminator, from)
    return found === -1 ? INCOMPLETE : found + terminator.length
  }

  function scanDeclaration(start: number): number {
    if (buffer.startsWith('<!--', start)) return endAfter('-->', start + 4)
    if (buffer.startsWith('<![CDATA[', start)) {
      const end = endAfter(']]>', start + 9)
      if (end !== INCOMPLETE) emitRawText(buffer.slice(start + 9, end - 3))
      return end
    }
    const soFar = buffer.slice(start, start + 9)
    if ('<!--'.startsWith(soFar) || '<![CDATA['.startsWith(soFar)) return INCOMPLETE
    throw xlsxFailure('damaged', 'XML with a document type or another declaration')
  }

  function scanClosingTag(start: number): number {
    const tag = tags[depth] ?? ''
    const nameEnd = start + 2 + tag.length
    const closes = depth > 0 && buffer.startsWith(tag, start + 2)
    if (closes && buffer.charCodeAt(nameEnd) === GREATER) {
      closeTag(start, nameEnd + 1)
      return nameEnd + 1
    }
    const end = endAfter('>', start + 2)
    if (end === INCOMPLETE) return INCOMPLETE
    if (!closes || skipWhiteSpace(nameEnd) !== end - 1) {
      throw xlsxFailure('damaged', 'XML closes an element that is not open')
    }
    closeTag(start, end)
    return end
  }

  function scanOpeningTag(start: number): number {
    const nameEnd = endOfName(start + 1)
    let at = nameEnd
    attributes.reset(buffer)
    for (;;) {
      at = skipWhiteSpace(at)
      const code = buffer.charCodeAt(at)
      if (code === GREATER || code === SLASH) break
      if (at === buffer.length) return INCOMPLETE
      at = scanAttribute(at)
      if (at === INCOMPLETE) return INCOMPLETE
    }
    const selfClosing = buffer.charCodeAt(at) === SLASH
    if (selfClosing) at++
    if (at === buffer.length) return INCOMPLETE
    if (buffer.charCodeAt(at) !== GREATER) throw xlsxFailure('damaged', 'XML tag with a stray /')
    if (nameEnd === start + 1) throw xlsxFailure('damaged', 'XML tag without a name')
    tagStart = start
    tagEnd = at + 1
    openTag(start + 1, nameEnd)
    if (selfClosing) closeTag(start, at + 1)
    return at + 1
  }

  function scanAttribute(start: number): number {
    const nameEnd = endOfName(start)
    const equals = skipWhiteSpace(nameEnd)
    const quoteStart = skipWhiteSpace(equals + 1)
    if (quoteStart >= buffer.length) return INCOMPLETE
    const quote = buffer.charCodeAt(quoteStart)
    if (
      nameEnd === start ||
      buffer.charCodeAt(equals) !== EQUALS ||
      (quote !== DOUBLE_QUOTE && quote !== APOSTROPHE)
    ) {
      throw xlsxFailure('damaged', 'XML attribute without a name or a quoted value')
    }
    const quoteEnd = buffer.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", quoteStart + 1)
    if (quoteEnd === -1) return INCOMPLETE
    attributes.add(start, nameEnd, quoteStart + 1, quoteEnd)
    return quoteEnd + 1
  }

  function endOfName(start: number): number {
    const text = buffer
    let at = start
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (isWhiteSpace(code) || code === GREATER || code === SLASH || code === EQUALS) break
      if (code === LESS || code === DOUBLE_QUOTE || code === APOSTROPHE) {
        throw xlsxFailure('damaged', 'XML name with a markup character')
      }
    }
    return at
  }

  function skipWhiteSpace(start: number): number {
    let at = start
    while (isWhiteSpace(buffer.charCodeAt(at))) at++
    return at
  }

  function openTag(nameStart: number, nameEnd: number): void {
    if (depth === 0 && rootSeen) throw xlsxFailure('damaged', 'XML with two root elements')
    if (depth === MAX_XML_DEPTH) throw xlsxFailure('damaged', 'XML nested too deeply')
    rootSeen = true
    depth++
    const last = tags[depth]
    if (last === undefined || last.length !== nameEnd - nameStart || !buffer.startsWith(last, nameStart)) {
      const tag = buffer.slice(nameStart, nameEnd)
      tags[depth] = tag
      names[depth] = tag.slice(tag.indexOf(':') + 1)
    }
    handler.open?.(names[depth] ?? '', depth, attributes)
  }

  function closeTag(start: number, end: number): void {
    tagStart = start
    tagEnd = end
    handler.close?.(names[depth] ?? '', depth)
    depth--
  }

  function emitText(raw: string): void {
    if (depth > 0 && handler.text === undefined) return
    emitRawText(decodeXmlEntities(raw.includes('\r') ? raw.replace(/\r\n?/g, '\n') : raw))
  }

  function emitRawText(text: string): void {
    if (depth > 0) handler.text?.(text, depth)
    else if (text.trim() !== '') throw xlsxFailure('damaged', 'XML with text outside its root element')
  }

  return {
    get tagStart() {
      return bufferStart + tagStart
    },
    get tagEnd() {
      return bufferStart + tagEnd
    },
    write(text) {
      buffer = buffer === '' ? text : buffer + text
      const scanned = scan()
      buffer = buffer.slice(scanned)
      bufferStart += scanned
      if (buffer.length > MAX_XML_TOKEN_CHARS) throw xlsxFailure('tooLarge', 'endless XML token')
    },
    end() {
      if (depth > 0 || !rootSeen || buffer.trim() !== '') {
        throw xlsxFailure('damaged', 'XML ends too early')
      }
    },
  }
}

function isWhiteSpace(code: number): boolean {
  return code === SPACE || code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB
}
