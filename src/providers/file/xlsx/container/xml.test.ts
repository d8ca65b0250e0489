import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ProviderFailure } from '../../../../sheets/provider-failure.ts'
import { MAX_XML_DEPTH, MAX_XML_TOKEN_CHARS } from './limits.ts'
import { createXmlScanner } from './xml.ts'
import { createXmlTextDecoder } from './xml-text.ts'

function eventsOf(pieces: Iterable<string>): string[] {
  const events: string[] = []
  let text = ''
  const scanner = createXmlScanner({
    open(name, depth, attributes) {
      events.push(text, `${depth}<${name} a=${attributes.get('a')} x:b=${attributes.getPrefixed('b')}`)
      text = ''
    },
    text(piece) {
      text += piece
    },
    close(name, depth) {
      events.push(text, `${depth}>${name}`)
      text = ''
    },
  })
  for (const piece of pieces) scanner.write(piece)
  scanner.end()
  return events.filter((event) => event !== '')
}

const DOCUMENT =
  '<?xml version="1.0" encoding="UTF-8"?>\n<!-- <no> --><x:root a="1 > 0" x:b=\'"\'>text &amp; <![CDATA[<raw>]]]]>' +
  '<x:in  a = "&lt;\t&#10;"  /><in\n>é😀</in ><?pi <no>?><b ab="9" ba="9" x:bb="9" a=""></b></x:root><!-- -->\n'

const EVENTS = [
  '1<root a=1 > 0 x:b="',
  'text & <raw>]]',
  '2<in a=< \n x:b=undefined',
  '2>in',
  '2<in a=undefined x:b=undefined',
  'é😀',
  '2>in',
  '2<b a= x:b=undefined',
  '2>b',
  '1>root',
]

test('a document becomes its events', () => {
  assert.deepEqual(eventsOf([DOCUMENT]), EVENTS)
})

test('wherever the document is cut into pieces, the events are the same', () => {
  assert.deepEqual(eventsOf(DOCUMENT.split('')), EVENTS)
  for (let cut = 0; cut <= DOCUMENT.length; cut++) {
    assert.deepEqual(eventsOf([DOCUMENT.slice(0, cut), DOCUMENT.slice(cut)]), EVENTS)
  }
})

test('a document cut off anywhere inside its root is refused', () => {
  const end = DOCUMENT.indexOf('</x:root>') + '</x:root>'.length
  for (let cut = 0; cut < end; cut++) {
    assert.throws(() => eventsOf([DOCUMENT.slice(0, cut)]), ProviderFailure, `cut at ${cut}`)
  }
})

const malformed = [
  '',
  '   ',
  'text',
  '<a>',
  '</a>',
  '<a></b>',
  '<a></aa>',
  '<aa></a>',
  '<a></a b>',
  '<a><b></a></b>',
  '<a/><b/>',
  '<a/>text',
  'text<a/>',
  '<![CDATA[x]]><a/>',
  '<a b></a>',
  '<a b=1/>',
  '<a b="1/>',
  '<a ="1"/>',
  '<a "1"/>',
  '<a / >',
  '<a/ b="1">',
  '< a/>',
  '<>x</>',
  '<a<b/>',
  '<a>&</a>',
  '<a>& </a>',
  '<a>&nbsp;</a>',
  '<a>&#0;</a>',
  '<a>&#x110000;</a>',
  '<a>&#9999999;</a>',
  '<a>&#xFFFFFFFFF;</a>',
  '<a>&__proto__;</a>',
  '<a a="<"/>',
  '<a a="&b;"/>',
  '<!DOCTYPE a><a/>',
  '<!doctype a><a/>',
  '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
  '<a><!ELEMENT b></a>',
  '<a><!-</a>',
  '<a><!-- </a>',
  '<a><![CDATA[ </a>',
  '<a><?x </a>',
]

for (const xml of malformed) {
  test(`refused: ${xml.replaceAll('\n', ' ')}`, () => {
    assert.throws(() => eventsOf([xml]), ProviderFailure)
    assert.throws(() => eventsOf(xml), ProviderFailure)
  })
}

test('nesting and the size of one token are bounded', () => {
  const nested = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth)
  assert.equal(eventsOf([nested(MAX_XML_DEPTH)]).length, 2 * MAX_XML_DEPTH)
  assert.throws(() => eventsOf([nested(MAX_XML_DEPTH + 1)]), ProviderFailure)
  for (const start of ['<a>', '<a>text', '<a b="', '<a ', '<a', '</', '<!--', '<?', '<a><![CDATA[']) {
    const piece = 'x'.repeat(MAX_XML_TOKEN_CHARS / 4)
    assert.throws(() => eventsOf([start, piece, piece, piece, piece, piece]), /too large/, start)
  }
})

test('bytes cut anywhere become the same text', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.array(fc.nat({ max: 12 })),
      fc.constantFrom('utf8' as const, 'utf16le' as const),
      (text, lengths, encoding) => {
        const bytes = Buffer.from(`\uFEFF<${text}`, encoding)
        const decoder = createXmlTextDecoder()
        // What the bytes are in is seen from the first four.
        let decoded = decoder.write(bytes.subarray(0, 4))
        let at = 4
        for (const length of lengths) {
          decoded += decoder.write(bytes.subarray(at, at + length))
          at += length
        }
        decoded += decoder.write(bytes.subarray(at)) + decoder.end()
        assert.equal(decoded, `<${text.toWellFormed()}`)
      },
    ),
    { seed: 16, numRuns: 500 },
  )
})

test('bytes that are no text in their encoding are refused', () => {
  for (const hex of ['ff', '3cc3', '3cc33c', '3ceda080', '3cf09f98', '80', 'fffe3c', 'fffe3c0000d8']) {
    assert.throws(() => {
      const decoder = createXmlTextDecoder()
      decoder.write(Buffer.from(hex, 'hex'))
      decoder.end()
    }, ProviderFailure)
  }
})
