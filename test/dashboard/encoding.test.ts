import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SheetView } from '../../src/dashboard/contract.ts'
import { encodeSingleByte } from '../../src/providers/file/csv/encoding/single-byte.ts'
import { ownPage, signedIn } from '../connect/visitor.ts'
import { startRowport } from '../harness.ts'

const cyrillic = (text: string) => encodeSingleByte(text, 'windows-1251')

test('owners name the encoding of a file, and a file that replaces it is read in the same', async (t) => {
  const rowport = await startRowport(t)
  const owner = await signedIn(rowport)
  const sendFile = async (path: string, body: Uint8Array | string) => {
    const headers = { Cookie: owner.cookie, ...ownPage }
    return fetch(`${rowport.url}/dashboard/api${path}`, { method: 'POST', body, headers })
  }
  assert.equal((await sendFile('/files?name=towns.csv', 'имя\nМосква\n')).status, 201)
  const source = { provider: 'file', path: 'towns.csv', tab: null }
  assert.equal(
    (await owner.call('POST', '/sheets', { slug: 'towns', access: 'private', source })).status,
    201,
  )
  const view = async () => JSON.parse((await owner.call('GET', '/sheets/towns')).text) as SheetView
  const { settings, source: shown } = await view()
  assert.equal(settings.encoding, null)
  assert.ok(shown.encodings.includes('windows-1251'))

  const old = cyrillic('имя,город\nАнна,Москва\nПётр,Ярославль\n')
  assert.equal((await sendFile('/files/towns.csv/replace?name=towns.csv', old)).status, 502)
  const changed = await owner.call('PATCH', '/sheets/towns', { encoding: 'windows-1251' })
  assert.equal(changed.status, 200, changed.text)
  assert.equal((await view()).settings.encoding, 'windows-1251')
  assert.equal((await sendFile('/files/towns.csv/replace?name=towns.csv', old)).status, 200)
  assert.deepEqual(
    (await view()).columns.map(({ name }) => name),
    ['имя', 'город'],
  )
  const refused = await owner.call('PATCH', '/sheets/towns', { encoding: null })
  assert.equal(refused.status, 502, refused.text)
  assert.match(refused.text, /name its encoding in the settings of the sheet/)
  assert.equal((await owner.call('PATCH', '/sheets/towns', { encoding: 'morse' })).status, 400)
})
