import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

/** Words of our own where readers know others, and British spellings. */
const unknownWords =
  /\b(?:answers?|answered|anew|rations?|at the dashboard|from the next request on|parted by|for ever|meta data|e-mails?|back-ups?|look-ups?|colours?|behaviour|favour\w*|recognis\w+|authoris\w+|licence|any more)\b/gi

/** Decisions are notes among those who build Rowport, and the changelog quotes what was. */
const documents = ['README.md', 'SECURITY.md', ...globSync('docs/{*,quickstarts/*,recipes/*}.md')]
/** What is built, not what is said: code between backticks, names of tests and files, targets of links. */
const notSaid = /^```.*?^```$|`[^`\n]*`|\]\([^)\n]*\)/gms

test('what people read in the docs is in words that everybody knows, in American spelling', () => {
  assert.ok(documents.length > 15)
  const found = documents.flatMap((path) => wordsIn(path, readFileSync(path, 'utf8').replace(notSaid, '')))
  assert.deepEqual(found, [])
})

/** In code, some of these are names; in a sentence of a string they are not. */
const sentences = /'[^'\\\n=?&]* [^'\\\n=?&]*'|`(?:[^`\\\n]|\\.)* (?:[^`\\\n]|\\.)*`|^ *[A-Z][^={}();<>]*$/gm

test('so is what the dashboard says', () => {
  const files = globSync('web/src/**/*.{ts,tsx}')
  assert.ok(files.length > 80)
  const found = files.flatMap((path) => {
    const code = readFileSync(path, 'utf8').replace(/^\s*(?:\/\/|\/?\*).*$/gm, '')
    const said = [...code.matchAll(sentences)].map(([text]) => text.replace(/\$\{[^}]*\}|' : .*/g, ''))
    return wordsIn(path, said.join('\n'))
  })
  assert.deepEqual(found, [])
})

function wordsIn(path: string, text: string): string[] {
  return [...text.matchAll(unknownWords)].map(
    ({ 0: word, index }) => `${path}: ${word}: …${text.slice(Math.max(0, index - 40), index + 40)}…`,
  )
}
