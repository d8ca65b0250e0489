import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { Problem } from '../../../src/management/problem.ts'
import { encodeSingleByte } from '../../../src/providers/file/csv/encoding/single-byte.ts'
import { bearer, done, startRowport } from '../../harness.ts'

/** Read by its bytes alone, this is taken for Windows-1252: `Øeka`. */
const czech = 'jméno,město\nŘeka,Praha\n'

test('the encoding of a connected sheet is changed: the next reader has it, the next write keeps it', async (t) => {
  const { path, formA, rows, send, set } = await start(t, encodeSingleByte(czech, 'windows-1250'))
  assert.deepEqual(await rows(), [{ jméno: 'Øeka', mìsto: 'Praha' }], 'taken for what its bytes look like')

  assert.equal(encodingIn(done(await set('CP1250'))), 'windows-1250')
  // The file itself has not changed, and what is held of it is younger than the cache would allow.
  assert.deepEqual(await rows(), [{ jméno: 'Řeka', město: 'Praha' }])
  assert.equal(encodingIn(done(await set(null))), undefined)
  assert.deepEqual(await rows(), [{ jméno: 'Øeka', mìsto: 'Praha' }])

  done(await set('windows-1250'))
  assert.equal((await send('POST', formA, { jméno: 'Řím', město: 'Děčín' })).status, 201)
  const written = encodeSingleByte(`${czech}Řím,Děčín\n`, 'windows-1250')
  assert.deepEqual(await readFile(path), Buffer.from(written))

  const refused = await send('PATCH', `${formA}/2`, { město: '東京' })
  assert.equal(refused.status, 400)
  assert.match(refused.body, /windows-1250/)
  assert.deepEqual(await readFile(path), Buffer.from(written))
})

test('a sheet that could not be read is served as soon as its encoding is named', async (t) => {
  const { path, rowport, formA, key, rows, set } = await start(t, 'a,b\n1,2\n')
  await writeFile(path, encodeSingleByte('имя,город\nАнна,Москва\n', 'ibm866'))
  rowport.clock.advanceMs(60_000)
  assert.equal((await rowport.get(formA, key)).status, 502)
  done(await set('ibm866'))
  assert.deepEqual(await rows(), [{ имя: 'Анна', город: 'Москва' }])
})

test('an encoding that is none, that does not fit the file, or that a file does not need is refused', async (t) => {
  const { rowport, set } = await start(t, encodeSingleByte('jméno\nŇu\n', 'windows-1250'))
  const problemWith = async (encoding: string | null) => {
    const refused = await set(encoding)
    assert.ok(refused instanceof Problem, `${encoding}`)
    assert.equal(refused.facts.field, 'encoding')
    return refused.message
  }
  assert.match(await problemWith('ebcdic'), /^"stock" can be in windows-1250, .* not in "ebcdic"$/)
  assert.match(await problemWith('shift_jis'), /not in "shift_jis"$/)
  // Ň is 0xD2, which is nothing there.
  assert.match(await problemWith('windows-1253'), /damaged, or not windows-1253/)

  await rowport.connectFile('book', 'book.ods', await readFile(ods))
  const book = await rowport.workshop.sheets.change('acme', 'book', { encoding: 'windows-1250' })
  assert.ok(book instanceof Problem)
  assert.match(book.message, /^"book" says itself what it is in$/)
})

test('two sheets of one file may each be read in an encoding of their own', async (t) => {
  const { rowport, formA, rows, set, key } = await start(t, encodeSingleByte(czech, 'windows-1250'))
  const other = await rowport.connectFile('other', 'stock.csv', encodeSingleByte(czech, 'windows-1250'))
  done(await set('windows-1250'))
  assert.deepEqual(await rows(), [{ jméno: 'Řeka', město: 'Praha' }], formA)
  const seen = await (await rowport.get(other.formA, key)).json()
  assert.deepEqual(seen, [{ jméno: 'Øeka', mìsto: 'Praha' }])
})

const ods = new URL('../../../src/providers/file/xlsx/fixtures/opendocument.ods', import.meta.url)

function encodingIn({ location }: { location: string }): string | undefined {
  return (JSON.parse(location) as { encoding?: string }).encoding
}

async function start(t: TestContext, bytes: Uint8Array | string) {
  const rowport = await startRowport(t)
  const sheet = await rowport.connectFile('stock', 'stock.csv', bytes)
  const key = bearer(await rowport.createKey())
  return {
    ...sheet,
    rowport,
    key,
    set: (encoding: string | null) => rowport.workshop.sheets.change('acme', 'stock', { encoding }),
    rows: async () => (await (await rowport.get(sheet.formA, key)).json()) as Record<string, unknown>[],
    send: async (method: string, path: string, body: unknown) => {
      const answer = await fetch(rowport.url + path, { method, headers: key, body: JSON.stringify(body) })
      return { status: answer.status, body: await answer.text() }
    },
  }
}
