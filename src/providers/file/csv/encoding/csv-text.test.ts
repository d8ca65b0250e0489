import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Change } from '../../../../sheets/change.ts'
import { decodeCsv } from '../csv.ts'
import { editCsv } from '../edit.ts'
import { readCsvText, writeCsvText } from '../text.ts'
import { encodeSingleByte, singleByteEncodings } from './single-byte.ts'

const big = (text: string) => Buffer.from(text, 'utf16le').swap16()
const text = 'Größe,Preis\r\nklein,5\r\n'
const files: [encoding: string, bytes: Uint8Array][] = [
  ['utf-8', Buffer.from(text)],
  ['utf-8', Buffer.from(`\uFEFF${text}`)],
  ['utf-16le', Buffer.from(`\uFEFF${text}`, 'utf16le')],
  ['utf-16be', big(`\uFEFF${text}`)],
  ['utf-32le', writeCsvText({ text, encoding: 'utf-32le', hasBom: true })],
  ['utf-32be', writeCsvText({ text, encoding: 'utf-32be', hasBom: true })],
  ['windows-1252', encodeSingleByte(text, 'windows-1252')],
]
const add: Change[] = [{ kind: 'add', rows: [['groß – €', 7]] }]

for (const [encoding, bytes] of files) {
  test(`${encoding} is read, and written back as it was`, () => {
    const read = readCsvText(bytes)
    assert.deepEqual([read.text, read.encoding], [text, encoding])
    assert.deepEqual(Buffer.from(writeCsvText(read)), Buffer.from(bytes))
    const edited = editCsv(bytes, add)
    assert.ok('bytes' in edited)
    assert.deepEqual(Buffer.from(edited.bytes.subarray(0, bytes.length)), Buffer.from(bytes))
    assert.equal(readCsvText(edited.bytes).encoding, encoding)
    assert.deepEqual(decodeCsv(edited.bytes).rows.at(-1), ['groß – €', 7])
  })
}

describe('what is no text is refused in words', () => {
  const refused: [what: string, bytes: Uint8Array][] = [
    ['UTF-16 that is cut', Buffer.from('\uFEFFname\n', 'utf16le').subarray(0, 7)],
    ['UTF-16 with half a character', Buffer.from('\uFEFFa\uD800\n', 'utf16le')],
    ['UTF-16 with a zero', Buffer.from('\uFEFFa\0\n', 'utf16le')],
    ['UTF-32 that is cut', writeCsvText({ text, encoding: 'utf-32le', hasBom: true }).subarray(0, 9)],
    ['UTF-32 beyond Unicode', Buffer.from('fffe0000ffffffff', 'hex')],
    ['Cyrillic', encodeSingleByte('имя,город\nАнна,Москва\n', 'windows-1251')],
    ['a ZIP file', Buffer.from('504b0304140000', 'hex')],
  ]
  for (const [what, bytes] of refused) {
    test(what, () => {
      assert.throws(() => decodeCsv(bytes), { name: 'ProviderFailure', message: /save it as "CSV UTF-8"/ })
    })
  }
})

describe('an encoding that the owner names', () => {
  const cyrillic = encodeSingleByte('имя,город\nАнна,Москва\n', 'windows-1251')

  test('is read and written', () => {
    assert.deepEqual(decodeCsv(cyrillic, { encoding: 'windows-1251' }).rows[1], ['Анна', 'Москва'])
    const edited = editCsv(cyrillic, [{ kind: 'add', rows: [['Иван', 'Тула']] }], 'windows-1251')
    assert.ok('bytes' in edited)
    assert.deepEqual(decodeCsv(edited.bytes, { encoding: 'windows-1251' }).rows[2], ['Иван', 'Тула'])
    assert.deepEqual(Buffer.from(edited.bytes.subarray(0, cyrillic.length)), Buffer.from(cyrillic))
  })

  test('does not count where the file says that it is Unicode', () => {
    const bytes = Buffer.from('имя\nАнна\n')
    assert.deepEqual(decodeCsv(bytes, { encoding: 'windows-1251' }).rows, [['имя'], ['Анна']])
  })

  test('has the characters that it has', () => {
    const outcome = editCsv(cyrillic, [{ kind: 'add', rows: [['Zoë']] }], 'windows-1251')
    assert.deepEqual(outcome, {
      changeAt: 0,
      reason: 'value',
      details:
        'The CSV file is in windows-1251, which has no "ë". Saved as UTF-8, it can hold every character.',
    })
  })
})

test('a change that would make the encoding unclear is not made', () => {
  const bytes = encodeSingleByte('a,b\ncafé,1\n', 'windows-1252')
  const outcome = editCsv(bytes, [{ kind: 'update', rowNumber: 2, cells: [{ columnIndex: 0, value: 'Ã©' }] }])
  assert.ok('reason' in outcome && outcome.reason === 'file', JSON.stringify(outcome))
  assert.match(outcome.details, /windows-1252/)
  const emptied = editCsv(bytes, [{ kind: 'update', rowNumber: 2, cells: [{ columnIndex: 0, value: 'x' }] }])
  assert.ok('bytes' in emptied)
})

test('every encoding gives back the bytes that it took', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...singleByteEncodings),
      fc.uint8Array({ maxLength: 50 }),
      (encoding, given) => {
        const bytes = Buffer.from(given.filter((byte) => byte !== 0))
        let read: ReturnType<typeof readCsvText>
        try {
          read = readCsvText(bytes, encoding)
        } catch {
          return
        }
        assert.deepEqual(Buffer.from(writeCsvText(read)), bytes)
      },
    ),
    { seed: 1252, numRuns: 2000 },
  )
})
