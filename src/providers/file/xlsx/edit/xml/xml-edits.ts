import type { XmlElement } from './xml-tree.ts'

interface Edit {
  start: number
  end: number
  text: string
}

/** Changes to places of one XML text; what they do not name is copied as it stands. */
export class XmlEdits {
  readonly #text: string
  readonly #edits: Edit[] = []
  readonly #removed = new Set<XmlElement>()

  constructor(text: string) {
    this.#text = text
  }

  get isEmpty(): boolean {
    return this.#edits.length === 0
  }

  replace(start: number, end: number, text: string): void {
    this.#edits.push({ start, end, text })
  }

  /** `undefined` takes the attribute away. */
  setAttribute(element: XmlElement, name: string, value: string | undefined): void {
    const span = element.attributeSpan(name)
    if (value === undefined) {
      if (span) this.replace(span.start, span.end, '')
    } else if (span) {
      if (element.attribute(name) !== value)
        this.replace(span.valueStart, span.end, `"${escapeAttribute(value)}"`)
    } else {
      const at = element.openEnd - (element.closesItself ? 2 : 1)
      this.replace(at, at, ` ${name}="${escapeAttribute(value)}"`)
    }
  }

  setText(element: XmlElement, text: string): void {
    if (element.closesItself) this.append(element, escapeText(text))
    else this.replace(element.openEnd, element.closeStart, escapeText(text))
  }

  remove(element: XmlElement): void {
    this.#removed.add(element)
    this.replace(element.start, element.end, '')
  }

  /** Removes it, and what around it is left without an element by that, up to and including `top`. */
  removeUpTo(element: XmlElement, top: XmlElement): void {
    this.remove(element)
    const { parent } = element
    if (element === top || parent === null) return
    if (parent.children.every((child) => this.#removed.has(child))) this.removeUpTo(parent, top)
  }

  isRemoved(element: XmlElement): boolean {
    return this.#removed.has(element)
  }

  insertBefore(element: XmlElement, xml: string): void {
    this.replace(element.start, element.start, xml)
  }

  insertAfter(element: XmlElement, xml: string): void {
    this.replace(element.end, element.end, xml)
  }

  /** As the last thing inside. */
  append(element: XmlElement, xml: string): void {
    if (element.closesItself) {
      const name = element.openingTag.slice(1).match(/^[^\s/>]*/)?.[0] ?? ''
      this.replace(element.end - 2, element.end, `>${xml}</${name}>`)
    } else {
      this.replace(element.closeStart, element.closeStart, xml)
    }
  }

  /** The changed text from one place to another. A change inside what another one replaces is lost with it. */
  *pieces(from = 0, to = this.#text.length): Generator<string> {
    const edits = this.#edits
      .filter(({ start, end }) => start >= from && end <= to)
      // What is put in at a place comes before what is replaced from there on.
      .sort((one, other) => one.start - other.start || one.end - one.start - (other.end - other.start))
    let at = from
    for (const { start, end, text } of edits) {
      if (start < at) continue
      yield this.#text.slice(at, start)
      yield text
      at = end
    }
    yield this.#text.slice(at, to)
  }

  toText(): string {
    return [...this.pieces()].join('')
  }
}

export function escapeText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#13;')
}

function escapeAttribute(text: string): string {
  return escapeText(text).replaceAll('"', '&quot;').replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')
}
