import { invalidParameter } from './drive-error.ts'
import type { DriveFile } from './file-store.ts'

type Test = (file: DriveFile) => boolean

const TOKEN =
  /\s*(?:(\(|\))|'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(!=|<=|>=|=|<|>)|([A-Za-z][A-Za-z0-9_.]*))/y

interface Word {
  kind: 'text' | 'sign' | 'word' | 'bracket'
  text: string
}

/** The q parameter of files.list: name, mimeType, trashed, parents, owners and times, with and, or, not. */
export function parseQuery(text: string): Test {
  const words = wordsOf(text)
  const reader = { words, at: 0 }
  const test = readOr(reader)
  if (reader.at < words.length) throw invalidParameter('q')
  return test
}

function wordsOf(text: string): Word[] {
  const words: Word[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const match = TOKEN.exec(text)
    if (!match) throw invalidParameter('q')
    const [, bracket, single, double, sign, word] = match
    const quoted = single ?? double
    if (bracket !== undefined) words.push({ kind: 'bracket', text: bracket })
    else if (quoted !== undefined) words.push({ kind: 'text', text: quoted.replace(/\\(.)/g, '$1') })
    else if (sign !== undefined) words.push({ kind: 'sign', text: sign })
    else words.push({ kind: 'word', text: word ?? '' })
  }
  return words
}

interface Reader {
  words: Word[]
  at: number
}

function readOr(reader: Reader): Test {
  let test = readAnd(reader)
  while (take(reader, 'or')) {
    const [left, right] = [test, readAnd(reader)]
    test = (file) => left(file) || right(file)
  }
  return test
}

function readAnd(reader: Reader): Test {
  let test = readTerm(reader)
  while (take(reader, 'and')) {
    const [left, right] = [test, readTerm(reader)]
    test = (file) => left(file) && right(file)
  }
  return test
}

function readTerm(reader: Reader): Test {
  if (take(reader, 'not')) {
    const test = readTerm(reader)
    return (file) => !test(file)
  }
  if (take(reader, '(')) {
    const test = readOr(reader)
    if (!take(reader, ')')) throw invalidParameter('q')
    return test
  }
  const [first, sign, last] = reader.words.slice(reader.at, reader.at + 3)
  reader.at += 3
  if (!first || !sign || !last) throw invalidParameter('q')
  if (sign.text === 'in') return (file) => membersOf(file, last.text).includes(first.text)
  return comparison(first.text, sign.text, last.text)
}

function take(reader: Reader, text: string): boolean {
  const word = reader.words[reader.at]
  if (!word || word.kind === 'text' || word.text.toLowerCase() !== text) return false
  reader.at += 1
  return true
}

function membersOf(file: DriveFile, collection: string): string[] {
  if (collection === 'parents')
    return file.parents.flatMap((parent) => (parent.startsWith('root-of-') ? [parent, 'root'] : [parent]))
  if (collection === 'owners') return [file.owner]
  const role = collection === 'writers' ? ['writer', 'owner'] : ['reader', 'commenter', 'writer', 'owner']
  return file.permissions.flatMap((one) =>
    role.includes(one.role) && one.emailAddress ? [one.emailAddress] : [],
  )
}

function comparison(field: string, sign: string, value: string): Test {
  const read = READERS[field]
  if (!read) throw invalidParameter('q')
  if (sign === 'contains') return (file) => String(read(file)).toLowerCase().includes(value.toLowerCase())
  const isTime = field.endsWith('Time')
  const wanted = isTime ? Date.parse(value) : value
  const equal = (file: DriveFile) => read(file) === wanted
  const tests: Record<string, Test> = {
    '=': equal,
    '!=': (file) => !equal(file),
    '<': (file) => read(file) < wanted,
    '<=': (file) => read(file) <= wanted,
    '>': (file) => read(file) > wanted,
    '>=': (file) => read(file) >= wanted,
  }
  const test = tests[sign]
  if (!test) throw invalidParameter('q')
  return test
}

const READERS: Record<string, (file: DriveFile) => string | number> = {
  name: (file) => file.name,
  fullText: (file) => file.name,
  mimeType: (file) => file.mimeType,
  trashed: (file) => String(file.trashed),
  starred: () => 'false',
  sharedWithMe: () => 'false',
  createdTime: (file) => file.createdMs,
  modifiedTime: (file) => file.modifiedMs,
}
