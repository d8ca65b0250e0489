import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { ada, startTogether, type Together } from '../connect/with-google.ts'
import { done } from '../harness.ts'
import { patienceMs } from '../soak.ts'
import { createLooks, skip } from './looks.ts'

/** What a person does: a page to be found and filled in at Google's site, or something at Rowport's. */
interface Walk {
  atGoogle(what: string, work?: () => Promise<unknown>): Promise<void>
  atRowport(what: string, work?: () => Promise<unknown>): Promise<void>
}

/** How long a person takes for one of them: a page of Google's console has to be found first. */
const secondsAtGoogle = 40
const secondsAtRowport = 15

const apiKey = 'AIza-the-key-of-this-server'
const firstRow = { name: 'Oak table', price: 420, 'in stock': true }
/** The seconds of the script are the machine's; what a person has to do, the docs tell as well. */
const walked: { way: string; figures: number[]; took: string }[] = []

test('with a service account', { skip, timeout: patienceMs }, async (t) => {
  await walk(
    t,
    'Service account',
    { isRegistered: false },
    async (together, page, { atGoogle, atRowport }) => {
      const { google, rowport, createSpreadsheet } = together
      const spreadsheetId = await createSpreadsheet('Prices')
      let keyFile = ''
      await atGoogle('create a project')
      await atGoogle('enable the Google Sheets API', () =>
        google.control('POST', 'settings', { disabledServices: ['drive'] }),
      )
      await atGoogle('create a service account')
      await atGoogle('add a key to it, as JSON', async () => {
        keyFile = JSON.stringify(await google.control('POST', 'service-accounts', {}))
      })
      await atRowport('start it')
      await atRowport('open the sign-in link', () => signIn(page, together))
      await atRowport('Connect a sheet, Google Sheets: choose the file of the key', async () => {
        await page.goto(`${rowport.workshop.baseUrl}/connect?source=google`)
        await page.getByRole('button', { name: 'Choose the file…' }).waitFor()
        await page.locator('input[type=file]').setInputFiles({
          name: 'key.json',
          mimeType: 'application/json',
          buffer: Buffer.from(keyFile),
        })
        await page.getByText('rowport-robot@emulated-project.iam.gserviceaccount.com').first().waitFor()
      })
      await atGoogle('share the spreadsheet with the address that Rowport shows', () =>
        google.control('POST', 'share', {
          spreadsheetId,
          with: 'rowport-robot@emulated-project.iam.gserviceaccount.com',
        }),
      )
      await atRowport('paste its link', async () => {
        await page.getByPlaceholder(/paste a link/i).fill(linkOf(spreadsheetId))
        await page.getByRole('button', { name: 'Use this link' }).click()
      })
      await connectShown(page, atRowport)
    },
  )
})

test('shared by link, with an API key', { skip, timeout: patienceMs }, async (t) => {
  const settings = { isRegistered: false, apiKey }
  await walk(
    t,
    'Shared by link, with an API key',
    settings,
    async (together, page, { atGoogle, atRowport }) => {
      const { google, rowport, createSpreadsheet } = together
      const spreadsheetId = await createSpreadsheet('Prices')
      await atGoogle('create a project')
      await atGoogle('enable the Google Sheets API')
      await atGoogle('create an API key', () => google.control('POST', 'api-keys', { key: apiKey }))
      await atGoogle('share the spreadsheet: anyone with the link, Viewer', () =>
        google.control('POST', 'share', { spreadsheetId, with: 'anyone', role: 'reader' }),
      )
      await atRowport('start it with GOOGLE_API_KEY')
      await atRowport('open the sign-in link', () => signIn(page, together))
      await atRowport('Connect a sheet, Google Sheets: paste the link', async () => {
        await page.goto(`${rowport.workshop.baseUrl}/connect?source=google`)
        await page.getByLabel('Link of the spreadsheet').fill(linkOf(spreadsheetId))
        await page.getByRole('button', { name: 'Use this link' }).click()
      })
      await connectShown(page, atRowport)
    },
  )
})

test('with an app of your own, by consent', { skip, timeout: patienceMs }, async (t) => {
  await walk(t, 'Your own app, by consent', {}, async (together, page, { atGoogle, atRowport }) => {
    const { rowport, createSpreadsheet } = together
    await createSpreadsheet('Prices')
    await atGoogle('create a project')
    for (const api of ['Sheets', 'Drive', 'Picker']) await atGoogle(`enable the Google ${api} API`)
    await atGoogle('name the app, its audience and a contact')
    await atGoogle('add the scope')
    await atGoogle('publish the app')
    await atGoogle('create a client with the redirect URI, and copy its secret')
    await atRowport('start it with BASE_URL, GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET')
    await atRowport('open the sign-in link', () => signIn(page, together))
    await atRowport('Connect a sheet, Google Sheets: Connect Google', async () => {
      await page.goto(`${rowport.workshop.baseUrl}/connect?source=google`)
      await page.getByRole('button', { name: 'Connect Google', exact: true }).click()
    })
    await atGoogle('choose the account, pick the spreadsheet, continue', async () => {
      await page.getByRole('radio', { name: new RegExp(ada) }).check()
      await page.getByLabel('Prices').check()
      await page.getByRole('button', { name: 'Continue' }).click()
    })
    await connectShown(page, atRowport)
  })
})

test('docs/google-setup.md tells the steps as they were walked', { skip }, async (t) => {
  const docs = await readFile(join(import.meta.dirname, '../../docs/google-setup.md'), 'utf8')
  t.diagnostic(
    '| way | steps at Google | at Rowport | minutes for a person, estimated | seconds for the script |',
  )
  for (const { way, figures, took } of walked) {
    t.diagnostic(`| ${way} | ${figures.join(' | ')} | ${took} |`)
    assert.ok(docs.includes(`\n| ${way} | ${figures.join(' | ')} |\n`), `${way}: ${figures.join(', ')}`)
  }
  assert.equal(walked.length, 3)
})

async function walk(
  t: TestContext,
  way: string,
  settings: Parameters<typeof startTogether>[1],
  go: (together: Together, page: Page, steps: Walk) => Promise<void>,
): Promise<void> {
  const together = await startTogether(t, settings)
  const { page, look } = await createLooks(t)
  const steps = { google: 0, rowport: 0 }
  const begunMs = performance.now()
  const stepAt = (place: keyof typeof steps) => async (what: string, work?: () => Promise<unknown>) => {
    steps[place]++
    await work?.()
    t.diagnostic(
      `${steps.google + steps.rowport}. ${place === 'google' ? 'at Google' : 'at Rowport'}: ${what}`,
    )
  }
  const atRowport = stepAt('rowport')
  await go(together, page, { atGoogle: stepAt('google'), atRowport })
  let key = ''
  await atRowport('create a key', async () => {
    await page.goto(`${together.rowport.workshop.baseUrl}/keys`)
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByLabel('Name').fill('Website')
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    key = await page.getByTestId('key-value').innerText()
  })
  await atRowport('read', async () => {
    const answer = await fetch(`${together.rowport.workshop.baseUrl}/api/sheets/acme/prices`, {
      headers: { Authorization: `Bearer ${key}` },
    })
    const rows = (await answer.json()) as unknown[]
    assert.deepEqual([answer.status, rows[0]], [200, firstRow])
  })
  const tookSeconds = (performance.now() - begunMs) / 1000
  const minutes = Math.round((steps.google * secondsAtGoogle + steps.rowport * secondsAtRowport) / 60)
  const took = `${tookSeconds.toFixed(1)} s`
  walked.push({ way, figures: [steps.google, steps.rowport, minutes], took })
  await look(`90-first-row-${way.toLowerCase().replaceAll(/\W+/g, '-')}`, 'state')
}

/** The only tab is chosen by itself. */
async function connectShown(page: Page, atRowport: Walk['atRowport']): Promise<void> {
  await atRowport('look at the rows, and connect', async () => {
    await page.getByText('Oak table').waitFor()
    await page.getByLabel('URL name').fill('prices')
    await page.getByRole('button', { name: 'Connect this sheet' }).click()
    await page.getByText('Connected. The API is live.').waitFor()
  })
}

async function signIn(page: Page, { rowport: { workshop } }: Together): Promise<void> {
  const { token } = done(await workshop.signIn.createLink('acme'))
  await page.goto(`${workshop.baseUrl}/sign-in-link?token=${token}`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Welcome, acme' }).waitFor()
}

function linkOf(spreadsheetId: string): string {
  return `https://docs.google.com/spreadsheets/d/${spreadsheetId}/edit#gid=0`
}
