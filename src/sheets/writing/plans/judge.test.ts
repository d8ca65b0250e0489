import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sized } from '../../../../test/soak.ts'
import { Refusal } from '../../../errors.ts'
import type { Change } from '../../change.ts'
import { buildSnapshot } from '../../rows/build-snapshot.ts'
import { createEqualityTest } from '../../rows/find/equal-cells.ts'
import type { Cell } from '../../rows/grid.ts'
import type { Column } from '../../rows/table.ts'
import { type JudgedTab, someRows, wholeTab } from '../looks/judged-tab.ts'
import { findingInColumn } from '../looks/row-finder.ts'
import type { NamedRow, Wish } from '../order.ts'
import { answerOf } from './answer-of.ts'
import { createGroupEffects } from './group-effects.ts'
import { createJudge, type Judge } from './judge.ts'
import type { Judgement, Plan } from './plan.ts'

type Rows = Cell[][]

const seeds = sized(100, 300)
const settings = { unknownFields: 'reject', keyColumn: null, autoKey: 'none' } as const
const keyed = { ...settings, keyColumn: 'a' }

/** All that `randomValue` gives, and some of what is added. */
const everyValue = [...Array.from({ length: 9 }, (_, at) => `Row ${at}`), '0', '1', '2', 'new 1', 'new 2']

/** A tab that can be read as a whole, or some rows of it alone, or these and what one column has. */
function tabs(rows: Rows, isShownOtherwise = false): JudgedTab[] {
  const row = (rowNumber: number) => rows[rowNumber - 1] ?? []
  const some = someRows({ version: '', header: row(1), row }, () => isShownOtherwise)
  const cells = rows.flatMap(([cell = null], at) =>
    at === 0 || cell === null ? [] : { rowNumber: at + 1, cell },
  )
  const found = new Map(
    everyValue.map((value) => {
      const placesOf = createEqualityTest([value])
      return [value, cells.filter(({ cell }) => placesOf(cell).length > 0)]
    }),
  )
  const cell = (rowNumber: number) => row(rowNumber)[0] ?? null
  return [whole(rows), some, { ...some, finder: findingInColumn({ position: 0, found, shown: null, cell }) }]
}

function whole(rows: Rows): JudgedTab {
  const snapshot = buildSnapshot({ rows })
  return wholeTab({ snapshot, version: '' }, snapshot)
}

function judged(judge: Judge, wish: Wish, effects = createGroupEffects()): Judgement {
  return counted(judge(wish, effects)).value
}

function counted<T>(steps: Generator<void, T>): { value: T; steps: number } {
  for (let count = 1; ; count++) {
    const step = steps.next()
    if (step.done) return { value: step.value, steps: count }
  }
}

test('changes that are judged together mean what each would mean alone, after those before it', () => {
  for (const sheet of [settings, keyed]) {
    let together = 0
    for (let seed = 1; seed <= seeds; seed++) {
      const random = seeded(seed)
      const rows = randomRows(random)
      const wishes = Array.from({ length: 8 }, () => randomWish(random, rows))
      for (const tab of tabs(rows)) {
        const judge = createJudge(tab, sheet)
        const effects = createGroupEffects()
        const group: Change[] = []
        const told: string[] = []
        for (const wish of wishes) {
          const judgement = judged(judge, wish, effects)
          if (judgement === 'later' || judgement === 'unread') break
          if (!(judgement instanceof Refusal)) {
            group.push(...judgement.changes)
            effects.note(judgement.changes)
          }
          told.push(tellingOf(judgement))
        }
        together = Math.max(together, group.length)
        const alone: string[] = []
        let expected = rows
        for (const wish of wishes.slice(0, told.length)) {
          const judgement = judged(createJudge(whole(expected), sheet), wish)
          assert.ok(judgement !== 'later' && judgement !== 'unread')
          alone.push(tellingOf(judgement))
          if (!(judgement instanceof Refusal)) expected = judgement.changes.reduce(made, expected)
        }
        assert.deepEqual(told, alone, `seed ${seed}`)
        assert.deepEqual(group.reduce(made, rows), expected, `seed ${seed}`)
      }
    }
    assert.ok(together >= 5, `at most ${together} went together`)
  }
})

test('changes by number go together as far as rows that were read alone allow', () => {
  let together = 0
  for (let seed = 1; seed <= seeds; seed++) {
    const random = seeded(seed)
    const rows = randomRows(random)
    for (const tab of tabs(rows)) {
      const judge = createJudge(tab, settings)
      const effects = createGroupEffects()
      let count = 0
      for (let nth = 0; nth < 8; nth++) {
        const judgement = judged(judge, wishByNumber(random, rows), effects)
        if (judgement === 'later' || judgement === 'unread') break
        if (judgement instanceof Refusal) continue
        effects.note(judgement.changes)
        count++
      }
      together = Math.max(together, count)
    }
  }
  assert.ok(together >= 6, `at most ${together} went together`)
})

test('of rows that were read alone, a blank one can only be judged on the whole tab', () => {
  const rows: Rows = [['a'], ['x'], [], ['y']]
  const [all, some] = tabs(rows)
  assert.ok(all && some)
  const wish: Wish = { kind: 'update', rowNumber: 3, row: [['a', 'z']], isRowAsExpected: null }
  assert.equal(judged(createJudge(some, settings), wish), 'unread')
  assert.equal((judged(createJudge(all, settings), wish) as Plan).changes[0]?.kind, 'update')
  const beyond = judged(createJudge(all, settings), { ...wish, rowNumber: 5 })
  assert.ok(beyond instanceof Refusal && beyond.code === 'row_not_found')
})

test('where readers are shown another row than is there, If-Match is judged on the whole tab, which they see then', () => {
  const [all, some] = tabs([['a'], ['x']], true)
  assert.ok(all && some)
  const wish: Wish = { kind: 'delete', rowNumber: 2, isRowAsExpected: () => false }
  assert.equal(judged(createJudge(some, settings), wish), 'unread')
  const [, shown] = tabs([['a'], ['x']])
  for (const tab of [all, shown]) {
    const refused: Judgement | undefined = tab && judged(createJudge(tab, settings), wish)
    assert.ok(refused instanceof Refusal && refused.code === 'precondition_failed')
  }
})

test('of rows that were read alone, what is found by value or gets a key is judged on the whole tab', () => {
  const [, some] = tabs([['a'], ['x'], ['y']])
  assert.ok(some)
  const byValue: Wish = { kind: 'delete', named: named(0, 'x'), isRowAsExpected: null }
  assert.equal(judged(createJudge(some, settings), byValue), 'unread')
  const ofKey: Wish = { kind: 'update', rowNumber: 2, row: [['a', 'y']], isRowAsExpected: null }
  assert.equal(judged(createJudge(some, keyed), ofKey), 'unread')
  const deletion: Wish = { kind: 'delete', rowNumber: 2, isRowAsExpected: null }
  assert.equal((judged(createJudge(some, keyed), deletion) as Plan).changes[0]?.kind, 'delete')
})

const names = Array.from({ length: 330 }, (_, at) => `c${at}`)
const columns: Column[] = names.map((key, index) => ({ key, index }))
const wideRows = Array.from({ length: 600 }, () => names.map((name, at) => [name, at] as const))
const wideAddition = { kind: 'add', rows: wideRows } as const

test('many rows of many cells are judged and answered row by row, each in a step', () => {
  const judge = createJudge(
    { columns, version: '1', isWhole: false, rows: null, finder: null, indexed: null },
    settings,
  )
  const { value: plan, steps } = counted(judge(wideAddition, createGroupEffects()))
  assert.ok(plan !== 'later' && plan !== 'unread' && 'changes' in plan)
  assert.ok(steps > wideRows.length, `${steps} steps`)
  const [change] = plan.changes
  assert.ok(change?.kind === 'add')
  const cells = change.rows.map((row) => [...row])
  const told = counted(answerOf(plan, [{ kind: 'add', rowNumbers: [], rows: cells }], columns))
  assert.ok(told.steps > wideRows.length, `${told.steps} steps`)
  assert.ok(told.value.kind === 'added')
  assert.deepEqual(JSON.parse(told.value.rowsJson.at(-1) ?? ''), Object.fromEntries(wideRows.at(-1) ?? []))
})

function tellingOf(judgement: Plan | Refusal): string {
  if (judgement instanceof Refusal) return `${judgement.code} ${judgement.facts.details ?? ''}`
  // `before` is the row as it was read, for all of a group.
  return JSON.stringify(judgement.changes, (name, value) => (name === 'before' ? undefined : value))
}

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
  const kind = random(8)
  if (kind === 0)
    return { kind: 'delete', named: named(random(2), randomValue(random)), isRowAsExpected: null }
  if (kind === 1) {
    const row = [['b', 10 + random(3)]] as const
    return { kind: 'update', named: named(random(2), randomValue(random)), row, isRowAsExpected: null }
  }
  if (kind === 2) {
    const rowsSent = [[['a', randomValue(random)] as const, ['b', random(3)] as const]]
    return { kind: 'upsert', columnIn: () => 0, rows: rowsSent, onMatch: 'change', isSheetAsExpected: null }
  }
  if (kind === 3) {
    const rowNumber = 2 + random(rows.length)
    return { kind: 'update', rowNumber, row: [['a', randomValue(random)]], isRowAsExpected: null }
  }
  return wishByNumber(random, rows)
}

function named(column: number, value: string): NamedRow {
  return { columnIn: () => column, value }
}

/** Of column `a` mostly, and sometimes one that is not there. */
function randomValue(random: (below: number) => number): string {
  return random(6) === 0 ? String(random(3)) : `Row ${random(9)}`
}

function wishByNumber(random: (below: number) => number, rows: Rows): Wish {
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
