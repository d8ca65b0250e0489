import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startLocalGoogle } from './harness.ts'

const rowCount = 20_000

/** CPU of this thread, which a busy machine does not stretch. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

test('a large sheet is read anew only where it changed, and what is read is always what is there', async (t) => {
  const google = await startLocalGoogle(t)
  const { access_token } = await google.tokens('ada@example.com')
  const values = Array.from({ length: rowCount }, (_, row) => [
    `name ${row}`,
    row,
    row % 2 === 0,
    '2026-11-15',
    row / 4,
  ])
  values[4] = ['sum', '=B1+B2', true, '=D1', 0]
  const { spreadsheetId } = google.emulator.world.createSpreadsheet({
    title: 'Large',
    owner: 'ada@example.com',
    tabs: [{ title: 'Items', values }],
  })
  const path = `/v4/spreadsheets/${spreadsheetId}/values/Items`
  const options = 'valueRenderOption=UNFORMATTED_VALUE&dateTimeRenderOption=FORMATTED_STRING'
  const ask = async (query: string): Promise<{ values: unknown[][] }> =>
    JSON.parse(await (await google.api(access_token, 'GET', `${path}?${query}`)).text())
  const read = () => ask(`${options}&prettyPrint=false`)

  const cpuOfReadMs = async (): Promise<number> => {
    const beganMs = cpuMs()
    const response = await google.api(access_token, 'GET', `${path}?${options}&prettyPrint=false`)
    await response.arrayBuffer()
    return cpuMs() - beganMs
  }
  const coldMs = await cpuOfReadMs()
  const warmMs = Math.min(await cpuOfReadMs(), await cpuOfReadMs(), await cpuOfReadMs())
  assert.ok(warmMs < coldMs / 2, `${warmMs} ms after ${coldMs} ms`)
  const again = () =>
    google.emulator.world.call({
      method: 'GET',
      path,
      query: new URLSearchParams(options),
      body: undefined,
      user: 'ada@example.com',
    }).body
  const known = again()
  assert.ok(known === again(), 'the same object, which is encoded once')
  const first = await read()
  assert.deepEqual(first.values[3], ['name 3', 3, false, '2026-11-15', 0.75])
  assert.deepEqual(first.values[4], ['sum', 1, true, '2026-11-15', 0])

  const put = (cell: string, value: unknown) =>
    google.api(access_token, 'PUT', `${path}!${cell}?valueInputOption=USER_ENTERED`, { values: [[value]] })
  await put('B1', 41)
  await put('D1', '2027-01-01')
  const changed = await read()
  assert.deepEqual(changed.values[0], ['name 0', 41, true, '2027-01-01', 0])
  assert.deepEqual(changed.values[4], ['sum', 42, true, '2027-01-01', 0])
  assert.deepEqual(changed.values.slice(5), first.values.slice(5))
  assert.equal((await ask('')).values[1]?.[1], '1')
  assert.equal((await ask(options)).values[1]?.[1], 1)
  assert.equal((await ask(`${options}&majorDimension=COLUMNS`)).values[1]?.[4], 42)

  await google.control('POST', 'edit', { spreadsheetId, tab: 'Items', op: 'deleteRow', row: 2 })
  assert.equal((await read()).values.length, rowCount - 1)
  assert.equal((await ask('valueRenderOption=FORMATTED_VALUE')).values[1]?.[4], '0.5')
  await google.api(access_token, 'POST', `/v4/spreadsheets/${spreadsheetId}:batchUpdate`, {
    requests: [{ updateSpreadsheetProperties: { properties: { locale: 'de_DE' }, fields: 'locale' } }],
  })
  assert.equal((await ask('valueRenderOption=FORMATTED_VALUE')).values[1]?.[4], '0,5')
})
