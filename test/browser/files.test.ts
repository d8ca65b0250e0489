import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { defaultShares } from '../../src/shares/shares.ts'
import { bearer, done, startRowport } from '../harness.ts'
import { patienceMs } from '../soak.ts'
import { signInByLink, untilInPage, watchChanges } from './at-the-dashboard.ts'
import { createLooks, skip, tabTo } from './looks.ts'

const settings = { baseUrl: 'http://127.0.0.1:0', shares: { ...defaultShares, upload_files: 2 } }
/** What was read before is not shown any more. */
const laterMs = 16 * 60_000

function csv(name: string, ...lines: string[]) {
  return { name, mimeType: 'text/csv', buffer: Buffer.from(`${lines.join('\n')}\n`) }
}

async function uploadAndConnect(page: Page, file: ReturnType<typeof csv>, slug: string): Promise<void> {
  await page.getByLabel('File', { exact: true }).setInputFiles(file)
  await page.getByLabel('URL name').fill(slug)
  await page.getByRole('button', { name: 'Connect this sheet' }).click()
  await page.getByRole('heading', { name: 'Endpoints' }).waitFor()
}

test('files: seen, replaced and renamed by keyboard, downloaded, kept while a sheet needs them, and deleted', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings })
  const { baseUrl } = rowport.workshop
  const { page, look, load, complaints } = await createLooks(t)
  await signInByLink(page, rowport, '/files')
  await page.getByText('No files yet').waitFor()
  await look('40-no-files', 'state')

  await page.getByRole('main').getByRole('link', { name: 'Upload a file' }).click()
  await uploadAndConnect(page, csv('Price list 2026.csv', 'name,price', 'Lamp,1'), 'prices')
  const key = await rowport.createKey()
  const rows = async () => (await rowport.get('/api/sheets/acme/prices', bearer(key))).json()
  assert.deepEqual(await rows(), [{ name: 'Lamp', price: 1 }])
  const changes = watchChanges(page)

  await load(`${baseUrl}/files`, 'Price list 2026.csv')
  await page.getByRole('cell', { name: '18 bytes', exact: true }).waitFor()
  await look('41-files')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download Price list 2026.csv' }).click(),
  ])
  assert.equal(download.suggestedFilename(), 'Price list 2026.csv')
  assert.equal(await readFile(await download.path(), 'utf8'), 'name,price\nLamp,1\n')

  // Chosen, looked at, and not yet sent: nothing leaves before the button.
  await tabTo(page, /^Replace Price list/)
  await page.keyboard.press('Enter')
  const input = page.getByLabel('New file')
  await input.setInputFiles(csv('broken.csv', ',,'))
  await look('42-replace', 'state')
  assert.deepEqual(changes, [])
  await page.getByRole('button', { name: 'Replace file' }).click()
  await page.getByText('The file was not replaced').waitFor()
  await look('43-not-replaced', 'state')
  assert.deepEqual(await rows(), [{ name: 'Lamp', price: 1 }])
  await input.setInputFiles(csv('new.csv', 'name,price', 'Lamp,2', 'Rug,3'))
  await page.getByText('The file was not replaced').waitFor({ state: 'hidden' })
  await tabTo(page, /^Replace file$/)
  await page.keyboard.press('Enter')
  await page.getByText('replaced. The new rows are live.').waitFor()
  assert.equal(((await rows()) as unknown[]).length, 2)
  const replace = 'POST /dashboard/api/files/Price%20list%202026.csv/replace'
  assert.deepEqual(changes.splice(0), [replace, replace])

  await tabTo(page, /^Rename Price list/)
  await page.keyboard.press('Enter')
  const newName = page.getByLabel('New name')
  await newName.waitFor()
  // The name is selected without its ending: to type is to replace it.
  await page.keyboard.type('Prices')
  assert.equal(await newName.inputValue(), 'Prices.csv')
  await look('48-rename-file', 'state')
  assert.deepEqual(changes, [])
  await newName.fill('Prices.xlsx')
  await page.keyboard.press('Enter')
  await page.getByText('Prices.xlsx.csv').first().waitFor()
  await page.getByRole('button', { name: 'Rename Prices.xlsx.csv' }).click()
  await newName.fill('Price list 2026')
  await page.keyboard.press('Enter')
  await page.getByText('renamed to Price list 2026.csv.').waitFor()
  await page.getByRole('button', { name: 'Rename Price list 2026.csv' }).waitFor()
  assert.equal(((await rows()) as unknown[]).length, 2)
  assert.deepEqual(changes.splice(0), [
    'POST /dashboard/api/files/Price%20list%202026.csv/rename',
    'POST /dashboard/api/files/Prices.xlsx.csv/rename',
  ])

  await page.getByRole('button', { name: 'Delete Price list 2026.csv' }).click()
  await page.getByText('Disconnect these first').waitFor()
  await look('44-still-connected', 'state')
  await page.keyboard.press('Escape')
  assert.deepEqual(changes, [])

  await load(`${baseUrl}/connect`, 'Files on this server')
  await page.getByLabel('File', { exact: true }).setInputFiles(csv('second.csv', 'a', '1'))
  await page.getByText('Not live yet.').waitFor()
  await load(`${baseUrl}/usage`, 'Account limits')
  await page.getByText('used up').waitFor()
  await look('45-shares')
  await load(`${baseUrl}/connect`, 'second.csv')
  await page.getByLabel('File', { exact: true }).setInputFiles(csv('third.csv', 'a', '1'))
  await page.getByText('You can have up to 2 files').waitFor()

  changes.length = 0
  await load(`${baseUrl}/files`, 'second.csv')
  await page.getByRole('button', { name: 'Rename second.csv' }).click()
  await page.getByLabel('New name').fill('Price list 2026.csv')
  await page.keyboard.press('Enter')
  await page.getByText('You already have a file named Price list 2026.csv.').waitFor()
  await look('49-name-taken', 'state')
  await page.getByLabel('New name').fill('Third')
  await page.getByText('You already have a file').waitFor({ state: 'hidden' })
  await page.keyboard.press('Escape')
  assert.deepEqual(changes.splice(0), ['POST /dashboard/api/files/second.csv/rename'])
  await tabTo(page, /^Delete second/)
  await page.keyboard.press('Enter')
  await tabTo(page, /^Cancel$/)
  await page.keyboard.press('Enter')
  assert.deepEqual(changes, [])
  await page.getByRole('button', { name: 'Delete second.csv' }).click()
  await look('46-delete-file', 'state')
  await page.getByRole('button', { name: 'Delete file' }).click()
  await page.getByText('second.csv deleted.').waitFor()
  await page.getByRole('button', { name: 'Delete second.csv' }).waitFor({ state: 'detached' })
  assert.deepEqual(changes, ['DELETE /dashboard/api/files/second.csv'])

  await page.route('**/dashboard/api/files', (route) => route.fulfill({ status: 503, body: '{}' }))
  await load(`${baseUrl}/files`, 'Try again')
  await look('47-files-failed', 'state')
  await page.unroute('**/dashboard/api/files')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Price list 2026.csv').first().waitFor()
  // What was refused on purpose: the broken file, the third one, and the answer that was made up.
  assert.deepEqual(
    complaints.filter((complaint) => !/status of (?:400|409|502|503)/.test(complaint)),
    [],
  )
})

test('a sheet whose file cannot be read offers what brings it back: a file that is gone, one that is broken, and the end of it', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings })
  const { page, look } = await createLooks(t)
  const link = (name: string) => page.getByRole('link', { name, exact: true })
  await signInByLink(page, rowport, '/connect')
  const goThere = () => page.goto(`${rowport.workshop.baseUrl}/sheets/prices`)
  const input = page.getByLabel('File', { exact: true })
  await uploadAndConnect(page, csv('prices.csv', 'name,price', 'Lamp,1'), 'prices')
  const { id } = done(await rowport.workshop.accounts.find('acme'))
  const path = join(rowport.folder, 'files', id, 'prices.csv')

  await rm(path)
  rowport.clock.advanceMs(laterMs)
  await goThere()
  await page.getByText('To restore it, upload prices.csv again under the same name.').waitFor()
  assert.equal(await page.getByText('the file is missing').count(), 1, 'the reason is told once')
  await look('58-file-gone', 'state')
  await link('Upload the file again').click()
  await input.setInputFiles(csv('prices.csv', 'name,price', 'Lamp,2'))
  await page.getByText('Not live yet.').waitFor()
  rowport.clock.advanceMs(laterMs)
  await goThere()
  await page.getByText('Live', { exact: true }).waitFor()

  await writeFile(path, 'name,price\n"Lamp,1\n')
  rowport.clock.advanceMs(laterMs)
  await goThere()
  await page.getByText('To restore it, replace prices.csv with a file that can be read.').waitFor()
  await link('Replace the file').click()
  await page.getByRole('button', { name: 'Replace prices.csv' }).click()
  await page.getByLabel('New file').setInputFiles(csv('prices.csv', 'name,price', 'Lamp,3'))
  await page.getByRole('button', { name: 'Replace file' }).click()
  await page.getByText('replaced. The new rows are live.').waitFor()
  rowport.clock.advanceMs(laterMs)
  await goThere()
  await page.getByText('Live', { exact: true }).waitFor()

  await rm(path)
  rowport.clock.advanceMs(laterMs)
  await goThere()
  await page.getByRole('alert').getByRole('link', { name: 'Disconnect' }).click()
  const disconnect = page.getByRole('button', { name: 'Disconnect this sheet' })
  await disconnect.waitFor()
  await untilInPage(page, `document.querySelector('#disconnect').getBoundingClientRect().top < innerHeight`)
})
