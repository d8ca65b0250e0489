import assert from 'node:assert/strict'
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { bearer, startRowport } from '../harness.ts'
import { times } from '../soak.ts'
import { createRandom } from './simulation/virtual-time.ts'

/** Each edit of theirs makes writers wait a second. */
const additions = times(80, 240)
const clients = 8

/**
 * A person edits the file in every way that programs save files, while clients write to it. Each of the person's edits
 * is one step, as quick as it can be: one that sits on an old copy for a second and then saves it would overwrite
 * anybody's work, not only ours.
 */
test('a person edits the file meanwhile: nothing of either is lost, or it is refused', async (t) => {
  const rowport = await startRowport(t)
  const sheet = await rowport.connectFile('s', 's.csv', 'id,note\n')
  const key = await rowport.createKey()
  const random = createRandom(77)
  const theirs = new Map<string, string>()
  const counts = { appended: 0, saved: 0, replaced: 0, refused: 0, precondition: 0 }
  let answered = 0
  let isOver = false
  const person = edit()

  const acknowledged = new Set<string>()
  const refused = new Set<string>()
  const updated = new Map<string, string>()
  await Promise.all(Array.from({ length: clients }, (_, at) => writeOn(at)))
  isOver = true
  await person

  const lines = readFileSync(sheet.path, 'utf8').trimEnd().split('\n').slice(1)
  const rows = new Map(lines.map((line) => line.split(',') as [string, string]))
  assert.equal(rows.size, lines.length, 'no row is there twice')
  for (const id of acknowledged) assert.equal(rows.get(id), updated.get(id) ?? 'new', `ours: ${id}`)
  for (const id of refused) assert.ok(!rows.has(id), `refused: ${id}`)
  for (const [id, note] of theirs) assert.equal(rows.get(id), note, `theirs: ${id}`)
  assert.equal(rows.size, acknowledged.size + theirs.size)
  process.stdout.write(
    `${acknowledged.size} additions and ${updated.size} updates beside ${theirs.size} rows of a person: ` +
      `none lost (${JSON.stringify(counts)})\n`,
  )
  assert.ok(counts.appended > 0 && counts.saved > 0 && counts.replaced > 0)
  assert.ok(acknowledged.size > additions / 2, 'most of it gets through')

  async function writeOn(client: number): Promise<void> {
    for (let n = 0; n < additions / clients; n++) {
      const id = `ours-${client}-${n}`
      const added = await ask('POST', '', { id, note: 'new' })
      if (added.status === 201) acknowledged.add(id)
      else {
        assert.equal(added.status, 502)
        refused.add(id)
        counts.refused++
        continue
      }
      if (n % 3 !== 0) continue
      const note = `changed-${n}`
      const ifMatch = { 'If-Match': added.etag }
      const changed = await ask('PUT', `/${added.row}`, { note }, ifMatch)
      if (changed.status === 200) updated.set(id, note)
      else if (changed.status === 412 || changed.status === 404) counts.precondition++
      else assert.equal(changed.status, 502)
    }
  }

  async function ask(method: string, path: string, body: object, headers: Record<string, string> = {}) {
    const answer = await fetch(rowport.url + sheet.formA + path, {
      method,
      headers: { ...bearer(key), ...headers },
      body: JSON.stringify(body),
    })
    const { rows } = (await answer.json()) as { rows?: { _row: number }[] }
    answered++
    return { status: answer.status, etag: answer.headers.get('etag') ?? '', row: rows?.[0]?._row }
  }

  /** By our own pace: on a slow machine, a person who edits ten times a second lets nobody write at all. */
  async function someTimeLater(): Promise<void> {
    for (const next = answered + 1 + random() * 5; answered < next && !isOver; ) await sleep(1)
    await sleep(random() * 10)
  }

  async function edit(): Promise<void> {
    for (let n = 0; !isOver; n++) {
      await someTimeLater()
      if (isOver) return
      const id = `theirs-${n}`
      theirs.set(id, 'x')
      const way = Math.floor(random() * 3)
      if (way === 0) {
        appendFileSync(sheet.path, `${id},x\n`)
        counts.appended++
        continue
      }
      // Into the middle, so that the rows below get other numbers; and a former row of theirs changes.
      const text = readFileSync(sheet.path, 'utf8')
      const [header = '', ...lines] = text.trimEnd().split('\n')
      lines.splice(Math.floor(random() * lines.length), 0, `${id},x`)
      const former = `theirs-${Math.floor(random() * n)}`
      if (theirs.has(former)) theirs.set(former, `y${n}`)
      const edited = lines.map((line) => (line.startsWith(`${former},`) ? `${former},y${n}` : line))
      const saved = `${[header, ...edited].join('\n')}\n`
      if (way === 1) {
        writeFileSync(sheet.path, saved)
        counts.saved++
      } else {
        writeFileSync(`${sheet.path}.new`, saved)
        renameSync(`${sheet.path}.new`, sheet.path)
        counts.replaced++
      }
    }
  }
})
