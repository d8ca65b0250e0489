import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../emulator/seeded-random.ts'
import { patienceMs, times } from '../soak.ts'
import { type GoogleGround, type GoogleSheet, startGoogleGround } from './google-ground.ts'

const histories = times(8, 300)
const columns = ['a', 'b', 'c'] as const

interface Addition {
  sent: Record<string, string>
  status: number
  told: Record<string, unknown> | null
  rowNumber: number | null
  location: string | null
  warning: string | null
}

test('additions at two instances while a person edits the columns: each cell under its header, each number told once', {
  timeout: patienceMs,
}, async (t) => {
  const ground = await startGoogleGround(t, { instances: 2 })
  const sum: Record<string, number> = {}
  const seeds: Record<string, number[]> = {}
  for (let seed = 1; seed <= histories; seed++) {
    for (const [name, count] of Object.entries(await play(ground, seed))) {
      sum[name] = (sum[name] ?? 0) + count
      if (count > 0) seeds[name] = [...(seeds[name] ?? []), seed]
    }
  }
  process.stdout.write(`${histories} histories with edited columns: ${JSON.stringify(sum)}\n`)
  const broken = promises.filter((name) => (sum[name] ?? 0) > 0)
  assert.deepEqual(broken, [], broken.map((name) => `${name}: seeds ${seeds[name]?.join(', ')}`).join('; '))
  assert.ok((sum.added ?? 0) > histories * 5 && (sum.raced ?? 0) > 0 && (sum.lostAnswers ?? 0) > 0)
})

/** What must never happen. */
const promises = ['misplaced', 'untold', 'lost', 'doubled', 'wrongNumber', 'numberTwice', 'failed']

async function play({ local, newSheet }: GoogleGround, seed: number): Promise<Record<string, number>> {
  const random = seededRandom(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const sheet = await newSheet(`columns-${seed}`, [[...columns], ['old', 'old', 'old']])
  await local.control('POST', 'settings', { latencyMs: { minMs: 0, maxMs: 20 } })
  const counts = { added: 0, edits: 0, raced: 0, lostAnswers: 0 }
  const additions: Addition[] = []
  let typedRows = 0
  let inserted = 0

  for (let step = 0; step < 12; step++) {
    const dice = random()
    if (dice < 0.3) await editColumns({})
    else if (dice < 0.42) {
      counts.raced++
      await editColumns({ match: ':batchUpdate', beforeCall: 1 })
    } else if (dice < 0.52) await typeRow(random() < 0.5 ? { match: ':batchUpdate', beforeCall: 1 } : {})
    if (random() < 0.15) {
      counts.lostAnswers++
      const times = 1 + Math.floor(random() * 4)
      await local.control('POST', 'faults', { match: ':batchUpdate', kind: 'lost', times })
    }
    const atOnce = random() < 0.3 ? 3 : 1
    const isSame = random() < 0.4
    await Promise.all(
      Array.from({ length: atOnce }, async (_, nth) => {
        const sent = isSame ? { a: 'same' } : distinctRow(`${step}.${nth}`)
        additions.push(await add(sheet, sent, Math.floor(random() * 2), `${seed}-${step}-${nth}`))
      }),
    )
    await local.control('DELETE', 'edit')
    await local.control('DELETE', 'faults')
  }
  return { ...counts, ...judge(additions, await sheet.cells(), typedRows) }

  /** Columns a, b and c stay; others come and go between them. */
  async function editColumns(when: object): Promise<void> {
    counts.edits++
    const [header = []] = await sheet.cells()
    const extra = header.flatMap((name, at) => (String(name).startsWith('new') ? at + 1 : []))
    const dice = random()
    const column = 1 + Math.floor(random() * header.length)
    const edit =
      extra.length > 0 && dice < 0.3
        ? { op: 'deleteColumn', column: pick(extra) }
        : dice < 0.65
          ? { op: 'insertColumn', column, header: `new ${++inserted}` }
          : { op: 'moveColumn', column, to: 1 + ((column + 1) % header.length) }
    await person({ ...edit, ...when })
  }

  /** A row like those that clients add, at the end, typed by the person. */
  async function typeRow(when: object): Promise<void> {
    typedRows++
    const cells = await sheet.cells()
    const column = (cells[0]?.indexOf('a') ?? 0) + 1
    await person({ op: 'set', row: cells.length + 1, column, value: 'same', ...when })
  }

  async function person(edit: object): Promise<void> {
    await local.control('POST', 'edit', { spreadsheetId: sheet.spreadsheetId, tab: 'Items', ...edit })
  }

  function distinctRow(token: string): Record<string, string> {
    const given = columns.filter(() => random() < 0.8)
    return Object.fromEntries(
      (given.length > 0 ? given : [pick(columns)]).map((name) => [name, `${name}:${token}`]),
    )
  }
}

async function add(
  sheet: GoogleSheet,
  sent: Record<string, string>,
  instance: number,
  key: string,
): Promise<Addition> {
  const { status, headers, body } = await sheet.ask('POST', '', { body: sent, instance, key })
  const told = (body.rows?.[0] ?? null) as Record<string, unknown> | null
  const rowNumber = typeof told?._row === 'number' ? told._row : null
  const [location, warning] = [headers.get('location'), headers.get('x-rowport-warning')]
  return { sent, status, told, rowNumber, location, warning }
}

/** Nobody deletes or inserts rows here, so a row number is final. */
function judge(additions: readonly Addition[], cells: unknown[][], typedRows: number) {
  const found = {
    misplaced: 0,
    untold: 0,
    lost: 0,
    doubled: 0,
    wrongNumber: 0,
    numberTwice: 0,
    failed: 0,
    numberNotTold: 0,
  }
  const [header = [], ...rows] = cells
  const asObject = (row: readonly unknown[]) =>
    Object.fromEntries(columns.map((name) => [name, row[header.indexOf(name)] ?? '']))
  const done = additions.filter(({ status }) => status === 201)
  found.failed = additions.length - done.length
  const numbers = done.flatMap(({ rowNumber }) => rowNumber ?? [])
  found.numberTwice = numbers.length - new Set(numbers).size
  const same = rows.filter((row) => row.includes('same')).length - typedRows
  const sentSame = done.filter(({ sent }) => sent.a === 'same').length
  found.lost += Math.max(0, sentSame - same)
  found.doubled += Math.max(0, same - sentSame)
  for (const { sent, told, rowNumber, location, warning } of done) {
    if (rowNumber === null) found.numberNotTold++
    else {
      const there = asObject(cells[rowNumber - 1] ?? [])
      if (Object.entries(sent).some(([name, value]) => there[name] !== value)) found.wrongNumber++
    }
    if (location !== null && !location.endsWith(`/${rowNumber}`)) found.wrongNumber++
    const isToldAsSent = Object.entries(sent).every(([name, value]) => told?.[name] === value)
    if (!isToldAsSent && warning === null) found.untold++
    if (sent.a === 'same') continue
    for (const [name, value] of Object.entries(sent)) {
      const places = cells.flatMap((row) =>
        row.flatMap((cell, at) => (cell === value ? String(header[at]) : [])),
      )
      if (places.length === 0) found.lost++
      else if (places.length > 1) found.doubled++
      else if (places[0] !== name && warning === null) found.misplaced++
    }
  }
  return { ...found, added: done.length }
}
