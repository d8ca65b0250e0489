import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ChangeChunk, lengthOfEntries } from '../store/changes/change-log.ts'
import { createLookingBack, type LookingBackParts, type PlaceBack } from './history.ts'

const sheet = { id: 's', accountId: 'a' }

test('long changes are told in pages of some length, all of them, and read in short steps', async () => {
  // Short ones behind long ones: what was guessed of the one kind is wrong for the other.
  const log = logOf([...lengths(300, 30_000), ...lengths(700, 10), ...lengths(60, 30_000)])
  const told: number[] = []
  for (let place: PlaceBack | null = null, pages = 0; ; pages++) {
    const looked = await log.looking.before(sheet, { place, of: null, limit: 100 })
    assert.ok(looked && looked.changes.length > 0)
    const characters = looked.changes.reduce((sum, { change }) => sum + (change.after?.length ?? 0), 0)
    assert.ok(characters <= 256 * 1_024 + 30_000, `${characters} characters in one page`)
    told.push(...looked.changes.map(({ seq }) => seq))
    place = looked.next
    if (place === null) break
    assert.ok(pages < 200)
  }
  assert.deepEqual(
    told,
    Array.from({ length: 1_060 }, (_, nth) => 1_060 - nth),
  )
  assert.ok(log.mostParsed() <= 256 * 1_024 + 31_000, `${log.mostParsed()} characters in one turn`)
})

test('what is looked through for a row in vain has an end, and goes on from there', async () => {
  const log = logOf(lengths(400, 30_000))
  const of = { key: '"nobody"' }
  const first = await log.looking.before(sheet, { place: null, of, limit: 100 })
  assert.deepEqual([first?.changes, typeof first?.next?.seq], [[], 'number'])
  assert.ok(log.read() < 5 * 1_024 * 1_024, `${log.read()} characters`)
  let next = first?.next ?? null
  for (let pages = 0; next !== null && pages < 20; pages++)
    next = (await log.looking.before(sheet, { place: next, of, limit: 100 }))?.next ?? null
  assert.equal(next, null)
})

test('nothing is left out where a chunk goes on beyond what one page looks through', async () => {
  const log = logOf(lengths(5_500, 10), 500)
  const first = await log.looking.before(sheet, { place: null, of: { key: '"nobody"' }, limit: 100 })
  assert.deepEqual(first?.next, { seq: 502, row: null })
  const second = await log.looking.before(sheet, { place: first.next, of: null, limit: 1 })
  assert.equal(second?.changes[0]?.seq, 501)
})

test('pages of one account are made one after the other, and those of others beside them', async () => {
  const log = logOf(lengths(10, 10))
  const wish = { place: null, of: null, limit: 100 }
  const asked = Array.from({ length: 20 }, () => log.looking.before(sheet, wish))
  await log.looking.before({ id: 's', accountId: 'other' }, wish)
  assert.ok(log.questions() < 10, `${log.questions()} questions before another account had its page`)
  const pages = await Promise.all(asked)
  assert.ok(pages.every((page) => page?.changes.length === 10))
})

test('many short changes take few questions to the store', async () => {
  const log = logOf(lengths(5_000, 10))
  await log.looking.before(sheet, { place: null, of: { key: '"nobody"' }, limit: 100 })
  assert.ok(log.questions() < 50, `${log.questions()} questions`)
})

function lengths(count: number, characters: number): number[] {
  return Array.from({ length: count }, () => characters)
}

/** A log that counts what is read and what is parsed in one turn. */
function logOf(changes: readonly number[], together = 1) {
  const chunks = Array.from({ length: changes.length / together }, (_, nth): ChangeChunk => {
    const [firstSeq, lastSeq] = [nth * together + 1, (nth + 1) * together]
    const some = changes.slice(firstSeq - 1, lastSeq).map((characters) => {
      return { kind: 'added', row: 2, after: JSON.stringify('x'.repeat(characters)) }
    })
    return { firstSeq, lastSeq, atMs: 0, entries: JSON.stringify(some) }
  })
  let [read, questions, since, mostParsed] = [0, 0, 0, 0]
  const position = { head: changes.length, floor: 0 }
  const store = {
    changeLogOf: async () => position,
    async loggedChanges(_sheetId: string, after: number, maxBytes: number, upTo = Infinity) {
      questions++
      const found: ChangeChunk[] = []
      let bytes = 0
      for (const chunk of chunks) {
        if (chunk.lastSeq <= after || chunk.firstSeq > upTo) continue
        if (bytes >= maxBytes) break
        found.push(chunk)
        bytes += lengthOfEntries(chunk)
      }
      read += bytes
      since += bytes
      mostParsed = Math.max(mostParsed, since)
      return found
    },
  } as unknown as LookingBackParts['store']
  const turns = {
    next: () => {
      since = 0
    },
  }
  return {
    looking: createLookingBack({ store, turns }),
    read: () => read,
    questions: () => questions,
    mostParsed: () => mostParsed,
  }
}
