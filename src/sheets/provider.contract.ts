import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Change, ChangeResult } from './change.ts'
import type { AccountPlace, Prepared, Provider } from './provider.ts'
import { ProviderFailure } from './provider-failure.ts'
import { createDecoding } from './reading/decoding.ts'
import type { Cell } from './rows/grid.ts'
import type { Snapshot } from './rows/snapshot.ts'

/** A place of the test's own, with one spreadsheet in it. */
export interface ProviderUnderTest {
  provider: Provider
  place: AccountPlace
  /** Changes the spreadsheet as its owner would, past Rowport. */
  editOutside(rows: readonly (readonly Cell[])[]): Promise<void>
  /** Takes the spreadsheet away. */
  remove(): Promise<void>
}

/** What every provider must do, whatever it is that holds the rows. */
export function providerContract(
  kind: string,
  start: (t: TestContext, rows: readonly (readonly Cell[])[]) => Promise<ProviderUnderTest>,
  /** `noticeEdits`: whether it can tell, up to the last moment, that someone else has changed the tab. */
  can: { write: boolean; noticeEdits?: boolean },
): void {
  const of = (title: string, check: (t: TestContext) => Promise<void>) => test(`${kind}: ${title}`, check)

  of('cells come back typed, at their row numbers', async (t) => {
    const { provider, place } = await start(t, [
      ['text', 'number', 'yes', 'no', 'empty'],
      ['0050', 12.5, true, false, null],
      [null, null, null, null, null],
      ['=1+1', -3, false, true, 'ünï 😀\n"two"'],
    ])
    const snapshot = await read(t, provider, place)
    assert.deepEqual(rowsOf(snapshot), [
      { text: '0050', number: 12.5, yes: true, no: false, empty: null },
      { text: '=1+1', number: -3, yes: false, no: true, empty: 'ünï 😀\n"two"' },
    ])
    assert.deepEqual([...snapshot.rowNumbers], [2, 4])
    assert.equal(snapshot.lastRowNumber, 4)
  })

  of('an edit outside shows in the next read, under another version', async (t) => {
    const { provider, place, editOutside } = await start(t, [['a'], [1]])
    const before = await provider.fetch(place, { values: 'typed', knownVersion: null })
    assert.ok(before !== 'unchanged')
    await editOutside([['a'], [2]])
    const after = await provider.fetch(place, { values: 'typed', knownVersion: before.version })
    assert.ok(after !== 'unchanged', 'a change must be seen, however quickly it follows')
    assert.notEqual(after.version, before.version)
    assert.deepEqual(rowsOf(await read(t, provider, place)), [{ a: 2 }])
  })

  of('an empty tab, and one with headers only', async (t) => {
    const empty = await start(t, [])
    assert.deepEqual((await read(t, empty.provider, empty.place)).columns, [])
    const headers = await start(t, [['a', 'b']])
    const snapshot = await read(t, headers.provider, headers.place)
    assert.deepEqual(
      snapshot.columns.map(({ key }) => key),
      ['a', 'b'],
    )
    assert.equal(snapshot.rowNumbers.length, 0)
  })

  of('what is gone is a ProviderFailure, in words for the owner', async (t) => {
    const { provider, place, remove } = await start(t, [['a'], [1]])
    await remove()
    await assert.rejects(provider.fetch(place, { values: 'typed', knownVersion: null }), ProviderFailure)
  })

  if (!can.write) {
    of('a write is refused with a ProviderFailure and changes nothing', async (t) => {
      const { provider, place } = await start(t, [['a'], [1]])
      const { version } = await fetchGrid(provider, place)
      const change: Change = { kind: 'add', rows: [[2]] }
      await assert.rejects(provider.prepare(place, [change], version), ProviderFailure)
      assert.deepEqual(rowsOf(await read(t, provider, place)), [{ a: 1 }])
    })
    return
  }

  of('rows are added after the last row with data, exactly as given', async (t) => {
    const { provider, place } = await start(t, [
      ['a', 'b', 'c'],
      [1, 2, 3],
      [null, null, null],
    ])
    const added: Cell[][] = [
      ['007', true, 1.5],
      [null, '=1+1', null],
    ]
    const { results } = await write(provider, place, [{ kind: 'add', rows: added }])
    assert.deepEqual(results.map(trimResult), [trimResult({ kind: 'add', rowNumbers: [3, 4], rows: added })])
    const snapshot = await read(t, provider, place)
    assert.deepEqual(rowsOf(snapshot).slice(1), [
      { a: '007', b: true, c: 1.5 },
      { a: null, b: '=1+1', c: null },
    ])
    assert.deepEqual([...snapshot.rowNumbers], [2, 3, 4])
  })

  of('an update changes the cells it names and no others; null empties one', async (t) => {
    const { provider, place } = await start(t, [
      ['a', 'b', 'c'],
      ['x', 2, true],
      ['y', 3, false],
    ])
    const cells = [
      { columnIndex: 1, value: '0050' },
      { columnIndex: 2, value: null },
    ]
    const { results } = await write(provider, place, [{ kind: 'update', rowNumber: 2, cells }])
    assert.deepEqual(results.map(trimResult), [{ kind: 'update', row: ['x', '0050'] }])
    assert.deepEqual(rowsOf(await read(t, provider, place)), [
      { a: 'x', b: '0050', c: null },
      { a: 'y', b: 3, c: false },
    ])
  })

  of('a deletion takes the row away and tells what it held; rows below move up', async (t) => {
    const { provider, place } = await start(t, [['a'], ['first'], ['second'], ['third']])
    const { results } = await write(provider, place, [{ kind: 'delete', rowNumber: 3 }])
    assert.deepEqual(results.map(trimResult), [{ kind: 'delete', row: ['second'] }])
    const snapshot = await read(t, provider, place)
    assert.deepEqual(rowsOf(snapshot), [{ a: 'first' }, { a: 'third' }])
    assert.deepEqual([...snapshot.rowNumbers], [2, 3])
  })

  of('several changes are made in their order, each answered as of its turn', async (t) => {
    const { provider, place } = await start(t, [
      ['a', 'b'],
      ['x', 1],
    ])
    const { results } = await write(provider, place, [
      { kind: 'add', rows: [['y', 2]] },
      { kind: 'update', rowNumber: 2, cells: [{ columnIndex: 1, value: 10 }] },
      { kind: 'add', rows: [['z', 3]] },
      { kind: 'update', rowNumber: 2, cells: [{ columnIndex: 0, value: 'X' }] },
    ])
    assert.deepEqual(results.map(trimResult), [
      { kind: 'add', rowNumbers: [3], rows: [['y', 2]] },
      { kind: 'update', row: ['x', 10] },
      { kind: 'add', rowNumbers: [4], rows: [['z', 3]] },
      { kind: 'update', row: ['X', 10] },
    ])
    assert.deepEqual(rowsOf(await read(t, provider, place)), [
      { a: 'X', b: 10 },
      { a: 'y', b: 2 },
      { a: 'z', b: 3 },
    ])
  })

  of('preparing touches nothing, and what is discarded never happens', async (t) => {
    const { provider, place } = await start(t, [['a'], [1]])
    const prepared = await prepare(provider, place, [{ kind: 'add', rows: [[2]] }])
    assert.deepEqual(rowsOf(await read(t, provider, place)), [{ a: 1 }])
    await prepared.discard()
    assert.deepEqual(rowsOf(await read(t, provider, place)), [{ a: 1 }])
  })

  of('what is expected where that is certain is what comes to pass', async (t) => {
    const { provider, place } = await start(t, [['a'], [1]])
    const prepared = await prepare(provider, place, [{ kind: 'add', rows: [[2], [3]] }])
    const committed = await prepared.commit()
    assert.equal(committed.outcome, 'applied')
    if (prepared.isExact && committed.outcome === 'applied') {
      assert.deepEqual(prepared.expected, committed.results)
    }
  })

  of('a write that was committed is settled as applied, however often one asks', async (t) => {
    const { provider, place } = await start(t, [['a'], [1]])
    const prepared = await prepare(provider, place, [{ kind: 'add', rows: [[2]] }])
    assert.equal((await prepared.commit()).outcome, 'applied')
    assert.equal(await provider.settle(place, prepared.fence), 'applied')
    assert.equal(await provider.settle(place, prepared.fence), 'applied')
    await prepared.discard()
    assert.deepEqual(rowsOf(await read(t, provider, place)), [{ a: 1 }, { a: 2 }])
  })

  of('a write that is settled as void cannot happen any more', async (t) => {
    const { provider, place } = await start(t, [['a'], [1]])
    const prepared = await prepare(provider, place, [{ kind: 'add', rows: [[2]] }])
    assert.equal(await provider.settle(place, prepared.fence), 'void')
    const late = await prepared.commit().catch(() => ({ outcome: 'failed' }))
    assert.notEqual(late.outcome, 'applied')
    assert.deepEqual(rowsOf(await read(t, provider, place)), [{ a: 1 }])
    await write(provider, place, [{ kind: 'add', rows: [[3]] }])
    assert.deepEqual(rowsOf(await read(t, provider, place)), [{ a: 1 }, { a: 3 }])
  })

  of(
    'a value it cannot hold is refused by name, with all that came along; it is never rounded',
    async (t) => {
      const { provider, place } = await start(t, [['a'], [1]])
      const { version } = await fetchGrid(provider, place)
      const value = 0.1 + 0.2
      const changes: Change[] = [
        { kind: 'add', rows: [['good']] },
        { kind: 'add', rows: [[value]] },
      ]
      const prepared = await provider.prepare(place, changes, version)
      assert.ok(prepared !== 'conflict')
      if ('changeAt' in prepared) {
        assert.equal(prepared.changeAt, 1)
        assert.equal(prepared.reason, 'value')
        assert.deepEqual(rowsOf(await read(t, provider, place)), [{ a: 1 }])
      } else {
        assert.equal((await prepared.commit()).outcome, 'applied')
        assert.deepEqual(rowsOf(await read(t, provider, place)), [{ a: 1 }, { a: 'good' }, { a: value }])
      }
    },
  )

  if (can.noticeEdits === false) return

  of('a write on an outdated version is a conflict and changes nothing', async (t) => {
    const { provider, place, editOutside } = await start(t, [['a'], [1]])
    const { version } = await fetchGrid(provider, place)
    await editOutside([['a'], [5]])
    assert.equal(await provider.prepare(place, [{ kind: 'add', rows: [[2]] }], version), 'conflict')
    assert.deepEqual(rowsOf(await read(t, provider, place)), [{ a: 5 }])
  })

  of('an edit between preparing and committing is a conflict, and stays as it is', async (t) => {
    const { provider, place, editOutside } = await start(t, [['a'], [1]])
    const prepared = await prepare(provider, place, [{ kind: 'add', rows: [[2]] }])
    await editOutside([['a'], [5]])
    assert.deepEqual(await prepared.commit(), { outcome: 'conflict' })
    assert.equal(await provider.settle(place, prepared.fence), 'void')
    await prepared.discard()
    assert.deepEqual(rowsOf(await read(t, provider, place)), [{ a: 5 }])
  })
}

async function prepare(
  provider: Provider,
  place: AccountPlace,
  changes: readonly Change[],
): Promise<Prepared> {
  const { version } = await fetchGrid(provider, place)
  const prepared = await provider.prepare(place, changes, version)
  assert.ok(prepared !== 'conflict' && 'commit' in prepared, JSON.stringify(prepared))
  return prepared
}

async function write(provider: Provider, place: AccountPlace, changes: readonly Change[]) {
  const prepared = await prepare(provider, place, changes)
  const committed = await prepared.commit()
  await prepared.discard()
  assert.ok(committed.outcome === 'applied', JSON.stringify(committed))
  return committed
}

/** A row may end with its last cell that is not empty, or wherever the sheet does. */
function trimResult(result: ChangeResult): ChangeResult {
  const cut = (row: Cell[]) => row.slice(0, row.findLastIndex((cell) => cell !== null) + 1)
  return result.kind === 'add'
    ? { ...result, rows: result.rows.map(cut) }
    : { ...result, row: cut(result.row) }
}

async function fetchGrid(provider: Provider, place: AccountPlace) {
  const answer = await provider.fetch(place, { values: 'typed', knownVersion: null })
  assert.ok(answer !== 'unchanged')
  return answer
}

async function read(t: TestContext, provider: Provider, place: AccountPlace): Promise<Snapshot> {
  const decoding = createDecoding({ observe: () => {} })
  t.after(() => decoding.close())
  return (await decoding.decode(place.accountId, () => fetchGrid(provider, place))).indexed
}

function rowsOf({ listJson }: Snapshot): unknown[] {
  return JSON.parse(Buffer.from(listJson).toString()) as unknown[]
}
