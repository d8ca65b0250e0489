import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Refusal } from '../errors.ts'
import { createDecoding } from './decoding.ts'
import type { Cell } from './grid.ts'
import type { Provider } from './provider.ts'
import { ProviderFailure } from './provider-failure.ts'
import type { Snapshot } from './snapshot.ts'

/** A place of the test's own, with one spreadsheet in it. */
export interface ProviderUnderTest {
  provider: Provider
  location: string
  /** Changes the spreadsheet as its owner would, past Rowport. */
  editOutside(rows: readonly (readonly Cell[])[]): Promise<void>
  /** Takes the spreadsheet away. */
  remove(): Promise<void>
}

/** What every provider must do, whatever it is that holds the rows. */
export function providerContract(
  kind: string,
  start: (t: TestContext, rows: readonly (readonly Cell[])[]) => Promise<ProviderUnderTest>,
  can: { write: boolean },
): void {
  const of = (title: string, check: (t: TestContext) => Promise<void>) => test(`${kind}: ${title}`, check)

  of('cells come back typed, at their row numbers', async (t) => {
    const { provider, location } = await start(t, [
      ['text', 'number', 'yes', 'no', 'empty'],
      ['0050', 12.5, true, false, null],
      [null, null, null, null, null],
      ['=1+1', -3, false, true, 'ünï 😀\n"two"'],
    ])
    const snapshot = await read(t, provider, location)
    assert.deepEqual(rowsOf(snapshot), [
      { text: '0050', number: 12.5, yes: true, no: false, empty: null },
      { text: '=1+1', number: -3, yes: false, no: true, empty: 'ünï 😀\n"two"' },
    ])
    assert.deepEqual([...snapshot.rowNumbers], [2, 4])
    assert.equal(snapshot.lastRowNumber, 4)
  })

  of('an edit outside shows in the next read, under another version', async (t) => {
    const { provider, location, editOutside } = await start(t, [['a'], [1]])
    const before = await provider.fetch(location, null)
    assert.ok(before !== 'unchanged')
    await editOutside([['a'], [2]])
    const after = await provider.fetch(location, before.version)
    assert.ok(after !== 'unchanged', 'a change must be seen, however quickly it follows')
    assert.notEqual(after.version, before.version)
    assert.deepEqual(rowsOf(await read(t, provider, location)), [{ a: 2 }])
  })

  of('an empty tab, and one with headers only', async (t) => {
    const empty = await start(t, [])
    assert.deepEqual((await read(t, empty.provider, empty.location)).columns, [])
    const headers = await start(t, [['a', 'b']])
    const snapshot = await read(t, headers.provider, headers.location)
    assert.deepEqual(
      snapshot.columns.map(({ key }) => key),
      ['a', 'b'],
    )
    assert.equal(snapshot.rowNumbers.length, 0)
  })

  of('what is gone is a ProviderFailure, in words for the owner', async (t) => {
    const { provider, location, remove } = await start(t, [['a'], [1]])
    await remove()
    await assert.rejects(provider.fetch(location, null), ProviderFailure)
  })

  if (!can.write) {
    of('a write is refused with a ProviderFailure and changes nothing', async (t) => {
      const { provider, location } = await start(t, [['a'], [1]])
      const { version } = await fetched(provider, location)
      await assert.rejects(provider.append(location, [[2]], version), ProviderFailure)
      assert.deepEqual(rowsOf(await read(t, provider, location)), [{ a: 1 }])
    })
    return
  }

  of('rows are added after the last row with data, exactly as given', async (t) => {
    const { provider, location } = await start(t, [
      ['a', 'b', 'c'],
      [1, 2, 3],
      [null, null, null],
    ])
    const { version } = await fetched(provider, location)
    const added: Cell[][] = [
      ['007', true, 1.5],
      [null, '=1+1', null],
    ]
    assert.equal(await provider.append(location, added, version), 'appended')
    const snapshot = await read(t, provider, location)
    assert.deepEqual(rowsOf(snapshot).slice(1), [
      { a: '007', b: true, c: 1.5 },
      { a: null, b: '=1+1', c: null },
    ])
    assert.deepEqual([...snapshot.rowNumbers], [2, 3, 4])
  })

  of('a write on an outdated version is a conflict and changes nothing', async (t) => {
    const { provider, location, editOutside } = await start(t, [['a'], [1]])
    const { version } = await fetched(provider, location)
    await editOutside([['a'], [5]])
    assert.equal(await provider.append(location, [[2]], version), 'conflict')
    assert.deepEqual(rowsOf(await read(t, provider, location)), [{ a: 5 }])
  })

  of('a value it cannot hold is refused, not rounded', async (t) => {
    const { provider, location } = await start(t, [['a'], [1]])
    const { version } = await fetched(provider, location)
    const outcome = await provider.append(location, [[0.1 + 0.2]], version)
    const rows = rowsOf(await read(t, provider, location))
    if (outcome instanceof Refusal) assert.deepEqual(rows, [{ a: 1 }])
    else assert.deepEqual(rows, [{ a: 1 }, { a: 0.1 + 0.2 }])
  })
}

async function fetched(provider: Provider, location: string) {
  const answer = await provider.fetch(location, null)
  assert.ok(answer !== 'unchanged')
  return answer
}

async function read(t: TestContext, provider: Provider, location: string): Promise<Snapshot> {
  const decoding = createDecoding(() => {})
  t.after(() => decoding.close())
  return decoding.decode(await fetched(provider, location))
}

function rowsOf({ listJson }: Snapshot): unknown[] {
  return JSON.parse(Buffer.from(listJson).toString()) as unknown[]
}
