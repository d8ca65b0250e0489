import assert from 'node:assert/strict'
import { test } from 'node:test'
import { detectDelimiter, detectDialect } from './dialect.ts'

const delimiterOf: [what: string, text: string, delimiter: string][] = [
  ['nothing', '', ','],
  ['blank lines only', '\n\r\n', ','],
  ['comma', 'a,b\n1,2\n', ','],
  ['semicolon', 'a;b\n1;2\n', ';'],
  ['tab', 'a\tb\n1\t2\n', '\t'],
  ['bar', 'a|b\n1|2\n', '|'],
  ['bars in a list of a comma file', 'id,tags|more\n1,x|y|z\n2,u\n', ','],
  ['a header as much comma as bar', 'a,b|c', ','],
  ['prose comma in a header of bars', 'Price, EUR|City\n3|Rome\n', '|'],
  ['a header alone', 'a;b', ';'],
  ['blank lines before the header', '\n\na;b\n', ';'],
  ['prose comma in a header of semicolons', 'Price, EUR;City', ';'],
  ['more prose commas than semicolons', 'Price, net, EUR;City', ';'],
  ['decimal commas in a file of semicolons', 'Price, EUR;City\n3,50;Berlin\n4,20;Rome\n', ';'],
  ['a header as much comma as semicolon', 'Price,EUR;City\n3,50;Berlin\n', ';'],
  ['prose comma in a header of tabs', 'Price, EUR\tCity\n', '\t'],
  ['a list in one header of a comma file', 'id,tags (a;b),name\n1,x;y,Anna\n', ','],
  ['rows that agree with the header on commas', 'a,b;c\n1,2\n3,4\n', ','],
  ['rows that agree with the header on semicolons', 'a,b,c,d;e\n1;2\n3;4\n', ';'],
  ['many commas in the text of a semicolon file', 'id;note\n1;a, b, c, d\n2;e, f, g, h\n', ';'],
  ['commas in quoted headers', '"a,b,c";"d,e"\n', ';'],
  ['quoted line breaks in headers', '"a\n,,,";b\n1;2\n', ';'],
  ['a quoted header after a tab', 'x\t"a;b;c"\n', '\t'],
  ['ragged rows', 'a,b,c\n1;2\n1;2\n', ','],
  ['one column', 'Name\nAnna\n', ','],
  ['one column with commas in its text', 'Note\nhello, world\n', ';'],
  ['one column with commas and semicolons in its text', 'Note\na, b; c\n', '\t'],
  ['one column with three of them in its text', 'Note\na, b; c\td\n', '|'],
  ['one column with everything in its text', 'Note\na, b; c\td|e\n', ','],
  ['one column with quoted commas', 'Note\n"hello, world"\n', ','],
]

for (const [what, text, delimiter] of delimiterOf) {
  test(`delimiter: ${what}`, () => assert.equal(detectDelimiter(text), delimiter))
}

const newlineOf: [text: string, newline: string, endsWithNewline: boolean][] = [
  ['', '\n', true],
  ['a,b', '\n', false],
  ['a,b\n', '\n', true],
  ['a,b\r\n1,2\r\n', '\r\n', true],
  ['a,b\r1,2', '\r', false],
  ['"a\nb",c\r\n1,2\n', '\r\n', true],
  ['"a\r\nb"', '\n', false],
]

for (const [text, newline, endsWithNewline] of newlineOf) {
  test(`line ends of ${JSON.stringify(text)}`, () => {
    const dialect = detectDialect({ text, encoding: 'utf-8', hasBom: true })
    assert.deepEqual(dialect, { delimiter: ',', newline, encoding: 'utf-8', hasBom: true, endsWithNewline })
  })
}
