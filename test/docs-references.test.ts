import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize, relative } from 'node:path'
import { test } from 'node:test'

/**
 * Comments and pages name the place where something is decided (CONTRIBUTING.md). Whoever follows such a name must find
 * something there.
 */

const root = join(import.meta.dirname, '..')
const thisFile = relative(root, import.meta.filename)
const code = filesLike('{src,client/src,test,emulator,web/src,scripts,bench}/**/*.{ts,tsx,mjs}')
const pages = filesLike('{*.md,docs/**/*.md,client/*.md,emulator/*.md,bench/*.md}')
const decisions = filesLike('docs/decisions/[0-9]*.md')
/** The anchors of pages that were looked at. */
const known = new Map<string, Set<string>>()

/** `docs/contract.md#filters`, as code and prose write it. */
const namedPlace = /\bdocs\/[\w./-]+?\.md(?:#[\p{L}\p{N}_-]+)?/gu
/** `docs/decisions/011`, without the rest of the file's name. */
const namedDecision = /\bdocs\/decisions\/(\d{3})(?![\d-])/g
/** `[text](place)` of Markdown. */
const link = /\]\(([^()\s]+)\)/g

test('every heading of our docs that code or a page names is there', () => {
  const named = [...code, ...pages].flatMap((file) =>
    matches(file, namedPlace).map(([place]) => ({ file, place })),
  )
  const linked = pages.flatMap((file) =>
    matches(file, link)
      .map(([, target = '']) => target)
      .filter((target) => !/^[a-z]+:/.test(target))
      .map((target) => ({ file, place: target.startsWith('#') ? file + target : beside(file, target) })),
  )
  assert.ok(linked.length > 50, 'links are found')
  assert.deepEqual(
    [...named, ...linked]
      .filter(({ place }) => !isThere(place))
      .map(({ file, place }) => `${file}: ${place}`),
    [],
  )
})

test('the rule is not empty: it knows headings as GitHub names them, and misses those that are not there', () => {
  assert.ok(isThere('docs/contract.md#two-forms'))
  assert.ok(isThere('docs/decisions/003-xlsx-library.md#what-we-write-is-read-back-first'))
  assert.ok(!isThere('docs/contract.md#no-such-heading'))
  assert.ok(!isThere('docs/no-such-page.md'))
  const text = '# A `b_c`: d, *e*\n```\n# no heading\n```\n## [Link](x.md) – twice\n## Link – twice\n'
  assert.deepEqual([...anchorsIn(text)], ['a-b_c-d-e', 'link--twice', 'link--twice-1'])
})

test('every decision that is named exists, and each has a status that the index repeats', () => {
  const numbers = new Set(decisions.map((file) => basename(file).slice(0, 3)))
  assert.equal(numbers.size, decisions.length, 'two decisions have one number')
  const unknown = [...code, ...pages].flatMap((file) =>
    matches(file, namedDecision)
      .filter(([, number = '']) => !numbers.has(number))
      .map(([name]) => `${file}: ${name}`),
  )
  assert.deepEqual(unknown, [])

  const index = read('docs/decisions/README.md')
  const wrong: string[] = []
  for (const file of decisions) {
    const [title = '', , status = ''] = read(file).split('\n')
    const [, words = ''] = /^Status: (holds|(?:amended|replaced) by \d{3}\b.*)$/.exec(status) ?? []
    const others = words.match(/\b\d{3}\b/g) ?? []
    if (words === '' || others.some((number) => !numbers.has(number))) wrong.push(`${file}: ${status}`)
    const name = basename(file)
    const row = `| [${name.slice(0, 3)}](${name}) | ${title.replace(/^# \d+: /, '')} | ${words} |`
    if (!index.includes(row)) wrong.push(`docs/decisions/README.md has no row: ${row}`)
  }
  assert.deepEqual(wrong, [])
})

test('every test that a page names exists', () => {
  const tests = filesLike('{src,test,scripts,bench,emulator}/**/*.test.ts')
  const named = pages.flatMap((file) =>
    matches(file, /`npm (?:test|run soak) --\s+([\w\s/.-]+)`/g).flatMap(([, words = '']) =>
      words.split(/\s+/).map((word) => ({ file, word })),
    ),
  )
  assert.ok(named.length > 30)
  const missing = named.filter(({ word }) => !tests.some((path) => path.includes(word)))
  assert.deepEqual(missing, [])
})

test('nothing leans on a document that is not in the repository', () => {
  const absent = /\b(?:CONTRACT|SPEC|RELIABILITY|DESIGN)\b|\bGOOGLE\.md\b/
  const leaning = [...code, ...pages].filter((file) => file !== thisFile && absent.test(read(file)))
  assert.deepEqual(leaning, [])
})

function filesLike(pattern: string): string[] {
  return globSync(pattern, { cwd: root, exclude: ['**/node_modules/**'] }).sort()
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

/** The examples of this test itself are none of its business. */
function matches(file: string, pattern: RegExp): RegExpExecArray[] {
  return file === thisFile ? [] : [...read(file).matchAll(pattern)]
}

/** From the root, for what a page calls by its way from there. */
function beside(file: string, target: string): string {
  return normalize(join(dirname(file), target))
}

function isThere(place: string): boolean {
  const [file = '', anchor] = place.split('#', 2)
  if (!existsSync(join(root, file))) return false
  return anchor === undefined || anchorsOf(file).has(anchor)
}

function anchorsOf(file: string): Set<string> {
  const anchors = known.get(file) ?? new Set(anchorsIn(read(file)))
  known.set(file, anchors)
  return anchors
}

/** As GitHub makes them: the words of the heading in lower case, without punctuation, and numbered where they repeat. */
function anchorsIn(markdown: string): Set<string> {
  const anchors = new Set<string>()
  const withoutCode = markdown.replace(/^```[\s\S]*?^```/gm, '')
  for (const [, heading = ''] of withoutCode.matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const anchor = words.replace(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-')
    let unique = anchor
    for (let copy = 1; anchors.has(unique); copy++) unique = `${anchor}-${copy}`
    anchors.add(unique)
  }
  return anchors
}
