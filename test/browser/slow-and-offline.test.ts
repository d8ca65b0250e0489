import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { pageAddresses } from '../../src/dashboard/pages.ts'
import { createVisitor } from '../connect/visitor.ts'
import { done, startRowport } from '../harness.ts'
import { holdsOfTwo } from '../measured-twice.ts'
import { patienceMs } from '../soak.ts'
import { comeBackOnline, signInByLink } from './at-the-dashboard.ts'
import { createLooks, skip } from './looks.ts'

const latencyMs = 1_500
/** What is said later than this after a click feels like nothing happened; two frames of the page's own clock are added. */
const feedbackMs = 150 + 34

const pagesWith = (formId: string) =>
  pageAddresses.map((address) => address.replace('$slug', 'lamps').replace('$id', formId))
/** These have no frame: nobody has to be signed in. */
const entrances = /^\/(?:sign-|forgot|reset|verify|confirmed)/
const typable = 'input:is([type=text], [type=search], [type=email], [type=password], :not([type])), textarea'

test('every page at 1.5 s of latency says at once that it is on its way, and comes whole', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const { page, pages } = await openSheets(t)
  await page.route('**/*', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, latencyMs))
    await route.continue().catch(() => {})
  })
  const walked: string[] = []
  for (const path of pages) {
    const { toldMs } = await holdsOfTwo(
      async () => {
        await goTo(page, path === '/keys' ? '/files' : '/keys')
        await page.getByRole('heading', { level: 1 }).waitFor()
        return { toldMs: await goTo(page, path) }
      },
      ({ toldMs: ms }) => (ms <= feedbackMs ? null : `${path} said nothing for ${Math.round(ms)} ms`),
    )
    walked.push(`${path} ${Math.round(toldMs)}`)
    await page.locator('h1').first().waitFor({ state: 'attached' })
    await page.locator('[role=status].animate-pulse').first().waitFor({ state: 'detached' })
    await page.locator('.on-its-way').waitFor({ state: 'detached' })
    assert.equal(await page.getByText('Something went wrong').count(), 0, path)
    assert.equal(await page.getByText('Page not found').count(), 0, path)
  }
  t.diagnostic(`ms until each page said something: ${walked.join(', ')}`)
})

test('whoever signs in at 1.5 s of latency is told at every moment that it is on its way', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings: { baseUrl: 'http://rowport.lan:0', signUpPlan: 'pro' } })
  const signedUp = await createVisitor(rowport).call('POST', '/sign-up', person)
  assert.equal(signedUp.status, 200, signedUp.text)
  const { page } = await createLooks(t)
  await page.route('**/*', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, latencyMs))
    await route.continue().catch(() => {})
  })
  const { toldMs, silentMs } = await holdsOfTwo(
    async () => {
      await page.context().clearCookies()
      await page.goto(`${rowport.workshop.baseUrl}/sign-in?next=/sheets`)
      await page.getByLabel('Email').fill(person.email)
      await page.getByLabel('Password').fill(person.password)
      const signingIn = await page.evaluate<SigningIn>(signInAndWatch)
      await page.getByRole('heading', { name: 'Sheets' }).waitFor()
      return signingIn
    },
    (seen) =>
      seen.toldMs <= feedbackMs && seen.silentMs <= feedbackMs
        ? null
        : `nothing was said for ${Math.round(seen.toldMs)} ms at first, and for ${Math.round(seen.silentMs)} ms later`,
  )
  t.diagnostic(
    `told ${Math.round(toldMs)} ms after the click, silent for ${Math.round(silentMs)} ms at most until the page`,
  )
})

interface SigningIn {
  toldMs: number
  /** The longest time without a word, from then until the page was there. */
  silentMs: number
}

const person = { email: 'ada@example.com', password: 'correct horse battery', slug: 'ada' }

/** Presses the button, and looks at each frame whether something is said to be on its way. */
const signInAndWatch = `new Promise((resolve) => {
  const begunMs = performance.now()
  let toldMs = null
  let lastTellingMs = begunMs
  let silentMs = 0
  document.querySelector('button[type=submit]').click()
  requestAnimationFrame(function look() {
    const nowMs = performance.now()
    const isThere = document.querySelector('main h1')?.textContent === 'Sheets'
    const isTelling = isThere || document.querySelector('.on-its-way, [aria-busy=true], [role=status].animate-pulse')
    if (isTelling) {
      if (toldMs === null) toldMs = nowMs - begunMs
      else silentMs = Math.max(silentMs, nowMs - lastTellingMs)
      lastTellingMs = nowMs
    }
    if (isThere || nowMs - begunMs > 20_000) resolve({ toldMs: toldMs ?? Infinity, silentMs })
    else requestAnimationFrame(look)
  })
})`

test('every page without a network keeps its frame, says so, and loses nothing that was typed', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const { page, pages } = await openSheets(t)
  for (const path of pages) {
    await goTo(page, path)
    await page.locator('[role=status].animate-pulse').first().waitFor({ state: 'detached' })
  }
  const bar = page.getByText('You’re offline. Showing data from')
  // Fields of numbers take digits alone.
  let typed = 0
  for (const path of pages) {
    await page.context().setOffline(true)
    await goTo(page, path)
    await page.locator('h1').first().waitFor({ state: 'attached' })
    if (!entrances.test(path)) {
      await bar.waitFor()
      assert.equal(await page.getByRole('navigation', { name: 'Pages' }).isVisible(), true, path)
    }
    const field = page.locator('main').locator(typable).and(page.locator(':enabled:visible')).first()
    // This very field, not whichever is the first one later: back online, the page shows more of them.
    const filled = (await field.count()) > 0 ? await field.elementHandle() : null
    await filled?.fill('7')
    await comeBackOnline(page)
    if (!entrances.test(path)) await bar.waitFor({ state: 'hidden' })
    assert.equal(new URL(page.url()).pathname, path)
    if (filled === null) continue
    assert.equal(await filled.isVisible(), true, path)
    assert.equal(await filled.inputValue(), '7', path)
    typed++
  }
  assert.ok(typed >= 8, `only ${typed} pages have a field to type into`)
})

test('what is being edited is not taken away when the page asks again what it could not learn, or what has changed', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const { page, path, formId } = await openSheets(t)
  const guess = '**/dashboard/api/sheets/lamps/form-guess'
  await page.route(guess, (route) => route.abort())
  await goTo(page, `/forms/${formId}`)
  const title = page.getByLabel('Title')
  await title.waitFor()
  const typedInto = await title.elementHandle()
  await title.fill('Half a word')
  await page.unroute(guess)
  await page.context().setOffline(true)
  await comeBackOnline(page)
  assert.equal(await typedInto?.isVisible(), true)
  assert.equal(await title.inputValue(), 'Half a word')

  await goTo(page, '/sheets/lamps/rows')
  await page.getByRole('button', { name: 'Open row 2' }).click()
  const panel = page.getByRole('dialog')
  await panel.getByRole('button', { name: 'Edit' }).click()
  await panel.getByLabel('name').fill('Lamp of mine')
  await page.context().setOffline(true)
  await writeFile(path, 'name,price\nLamp of others,1\nRug,2\n')
  await comeBackOnline(page)
  assert.equal(await panel.getByLabel('name').inputValue(), 'Lamp of mine')
  await panel.getByRole('button', { name: 'Save row' }).click()
  await panel.getByRole('button', { name: 'Reload row' }).waitFor()
})

interface OpenedSheets {
  page: Page
  pages: string[]
  formId: string
  /** The file that the sheet shows. */
  path: string
}

async function openSheets(t: Parameters<typeof createLooks>[0]): Promise<OpenedSheets> {
  const rowport = await startRowport(t, { settings: { baseUrl: 'http://rowport.lan:0' } })
  const { path } = await rowport.connectFile('lamps', 'lamps.csv', 'name,price\nLamp,1\nRug,2\n')
  await rowport.createKey()
  const { accounts, forms } = rowport.workshop
  const account = done(await accounts.find('acme'))
  const fields = [
    { column: 'name', kind: 'text', label: 'Name', help: '', isRequired: true, choices: [] },
  ] as const
  const form = done(await forms.create({ account, sheetSlug: 'lamps', name: 'Lamps', settings: { fields } }))
  const { page } = await createLooks(t)
  await signInByLink(page, rowport, '/sheets')
  await page.getByRole('link', { name: 'lamps', exact: true }).waitFor()
  return { page, pages: pagesWith(form.id), formId: form.id, path }
}

/** As a link of the app does. Gives how long it took until something on the page told of it. */
function goTo(page: Page, path: string): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const told = () => document.title + (document.querySelector('h1')?.textContent ?? '')
    const before = told()
    const begunMs = performance.now()
    history.pushState(null, '', ${JSON.stringify(path)})
    requestAnimationFrame(function look() {
      const tookMs = performance.now() - begunMs
      const isTold = told() !== before || document.querySelector('.on-its-way, [aria-busy=true], main [role=status].animate-pulse')
      if (isTold || tookMs > 5_000) resolve(tookMs)
      else requestAnimationFrame(look)
    })
  })`)
}
