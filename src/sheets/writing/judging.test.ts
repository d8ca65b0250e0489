import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../errors.ts'
import type { Change } from '../change.ts'
import { buildSnapshot } from '../rows/build-snapshot.ts'
import type { Cell } from '../rows/grid.ts'
import type { Column } from '../rows/table.ts'
import { type JudgedTab, someRows, wholeTab } from './judged-tab.ts'
import { createAnswers, createJudge } from './judging.ts'
import type { Wish } from './order.ts'

type Rows = Cell[][]

const seeds = 300
const noTurn = () => {}

/** A tab that can be read as a whole, or some rows of it alone. */
function tabs(rows: Rows): JudgedTab[] {
  const snapshot = buildSnapshot({ rows })
  const row = (rowNumber: number) => rows[rowNumber - 1] ?? []
  return [wholeTab({ snapshot, version: '' }), someRows({ version: '', header: row(1), row })]
}

test('changes that are judged together mean what each would mean alone, after those before it', async () => {
  let together = 0
  for (let seed = 1; seed <= seeds; seed++) {
    const random = seeded(seed)
    const rows = randomRows(random)
    const wishes = Array.from({ length: 8 }, () => randomWish(random, rows))
    for (const tab of tabs(rows)) {
      const judge = createJudge(tab, 'reject')
      const group: Change[] = []
      const told: string[] = []
      for (const wish of wishes) {
        const judgement = await judge(wish, noTurn)
        if (judgement === 'later' || judgement === 'unread') break
        if (!(judgement instanceof Refusal)) group.push(judgement)
        told.push(judgement instanceof Refusal ? judgement.code : judgement.kind)
      }
      together = Math.max(together, group.length)
      const alone: string[] = []
      let expected = rows
      for (const wish of wishes.slice(0, told.length)) {
        const judgement = await createJudge(
          wholeTab({ snapshot: buildSnapshot({ rows: expected }), version: '' }),
          'reject',
        )(wish, noTurn)
        assert.ok(judgement !== 'later' && judgement !== 'unread')
        alone.push(judgement instanceof Refusal ? judgement.code : judgement.kind)
        if (!(judgement instanceof Refusal)) expected = made(expected, judgement)
      }
      assert.deepEqual(told, alone, `seed ${seed}`)
      assert.deepEqual(group.reduce(made, rows), expected, `seed ${seed}`)
    }
  }
  assert.ok(together >= 6, `at most ${together} went together`)
})

test('of rows that were read alone, a blank one can only be judged on the whole tab', async () => {
  const rows: Rows = [['a'], ['x'], [], ['y']]
  const [whole, some] = tabs(rows)
  assert.ok(whole && some)
  const wish: Wish = { kind: 'update', rowNumber: 3, row: [['a', 'z']], isRowAsExpected: null }
  assert.equal(await createJudge(some, 'reject')(wish, noTurn), 'unread')
  assert.equal(((await createJudge(whole, 'reject')(wish, noTurn)) as Change).kind, 'update')
  const beyond = await createJudge(whole, 'reject')({ ...wish, rowNumber: 5 }, noTurn)
  assert.ok(beyond instanceof Refusal && beyond.code === 'row_not_found')
})

test('of rows that were read alone, one that is not as expected is judged on the whole tab, which readers see then', async () => {
  const [whole, some] = tabs([['a'], ['x']])
  assert.ok(whole && some)
  const wish: Wish = { kind: 'delete', rowNumber: 2, isRowAsExpected: () => false }
  assert.equal(await createJudge(some, 'reject')(wish, noTurn), 'unread')
  const refused = await createJudge(whole, 'reject')(wish, noTurn)
  assert.ok(refused instanceof Refusal && refused.code === 'precondition_failed')
})

const names = Array.from({ length: 330 }, (_, at) => `c${at}`)
const columns: Column[] = names.map((key, index) => ({ key, index }))
const wideRows = Array.from({ length: 600 }, () => names.map((name, at) => [name, at] as const))
const wideAddition = { kind: 'add', rows: wideRows } as const

test('many rows of many cells are judged and answered row by row, each in a turn', async () => {
  let turns = 0
  const turn = () => void turns++
  const judge = createJudge({ columns, version: '1', rows: null }, 'reject')
  const change = await judge(wideAddition, turn)
  assert.ok(change !== 'later' && change !== 'unread' && 'kind' in change && change.kind === 'add')
  assert.equal(turns, wideRows.length)
  const cells = change.rows.map((row) => [...row])
  const answer = await createAnswers(columns)(
    wideAddition,
    { kind: 'add', rowNumbers: [], rows: cells },
    turn,
  )
  assert.equal(turns, 2 * wideRows.length)
  assert.ok(answer.kind === 'added')
  assert.deepEqual(JSON.parse(answer.rowsJson.at(-1) ?? ''), Object.fromEntries(wideRows.at(-1) ?? []))
})

function made(rows: Rows, change: Change): Rows {
  const copy = rows.map((row) => [...row])
  if (change.kind === 'add') {
    let last = copy.length
    while (last > 1 && (copy[last - 1] ?? []).every((cell) => cell === null)) last--
    copy.splice(last, change.rows.length, ...change.rows.map((row) => [...row]))
  } else if (change.kind === 'delete') copy.splice(change.rowNumber - 1, 1)
  else {
    const row = [...(copy[change.rowNumber - 1] ?? [])]
    for (const { columnIndex, value } of change.cells) row[columnIndex] = value
    copy[change.rowNumber - 1] = Array.from(row, (cell) => cell ?? null)
  }
  return copy
}

function randomRows(random: (below: number) => number): Rows {
  const rows = Array.from({ length: 3 + random(5) }, (_, at) =>
    random(5) === 0 ? [] : [`row ${at}`, random(3)],
  )
  return [['a', 'b'], ...rows, ['last', 0]]
}

function randomWish(random: (below: number) => number, rows: Rows): Wish {
  const rowNumber = 2 + random(rows.length)
  const expected = JSON.stringify({
    a: rows[rowNumber - 1]?.[0] ?? null,
    b: rows[rowNumber - 1]?.[1] ?? null,
  })
  const isRowAsExpected = random(3) === 0 ? (_: number, json: string) => json === expected : null
  const kind = random(5)
  if (kind === 0) return { kind: 'add', rows: [[['a', `new ${random(100)}`]]] }
  if (kind < 3) return { kind: 'delete', rowNumber, isRowAsExpected }
  return { kind: 'update', rowNumber, row: [['b', 10 + random(100)]], isRowAsExpected }
}

/** Mulberry32. */
function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}
