import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { startRowport } from '../harness.ts'
import { says, startCaptchaProvider } from '../servers/captcha-provider.ts'
import { patienceMs } from '../soak.ts'
import { signInByLink, untilInPage } from './at-the-dashboard.ts'
import { createLooks, skip, tabTo } from './looks.ts'

const csv = `id,first_name,email,guests,meal,message,received
1,Ann,ann@example.com,2,Soup,"Two
lines",2026-11-01T10:00:00
2,Bob,bob@example.com,1,Salad,One,2026-11-02T10:00:00
3,Cem,cem@example.com,1,Soup,One,2026-11-03T10:00:00
4,Dee,dee@example.com,3,Soup,One,2026-11-04T10:00:00
`

test('a form is made from a sheet by keyboard, seen as visitors see it, filled in, released, closed and deleted', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings: { baseUrl: 'http://127.0.0.1:0' } })
  const sheet = await rowport.connectFile('party-guests', 'guests.csv', csv)
  const rows = async () => (await readFile(sheet.path, 'utf8')).trimEnd().split('\n').slice(6)
  const { page, look, load, complaints } = await createLooks(t)
  const button = (name: string | RegExp) =>
    page.getByRole('button', { name, exact: typeof name === 'string' })
  const press = async (wanted: RegExp) => {
    await tabTo(page, wanted)
    await page.keyboard.press('Enter')
  }
  await signInByLink(page, rowport, '/forms')
  await page.getByText('No forms yet').waitFor()
  await look('70-forms-none', 'state')

  await press(/^Create form$/)
  await page.getByLabel('Sheet', { exact: true }).selectOption('party-guests')
  const preview = page.frameLocator('iframe')
  await preview.getByText('First name', { exact: true }).waitFor()
  const kinds = await page.evaluate("[...document.querySelectorAll('ol select')].map(({ value }) => value)")
  assert.deepEqual(kinds, ['text', 'email', 'number', 'choice', 'long'])
  assert.equal(await page.getByLabel('Choices').inputValue(), 'Soup\nSalad')
  assert.equal(await page.getByLabel('received').inputValue(), 'now()')

  await page.getByLabel('Add a field').selectOption('id')
  await preview.getByText('id (optional)', { exact: true }).waitFor()
  await button('Remove id').click()
  await page.getByLabel('Title').fill('Party')
  await page.getByLabel('Introduction').fill('Tell us who comes, <b>soon</b>.')
  await preview.getByText('Tell us who comes, <b>soon</b>.').waitFor()
  await page.getByLabel('Help text').nth(2).fill('With yourself.')
  await preview.getByText('With yourself.').waitFor()
  await button('Move Email up').focus()
  await page.keyboard.press('Enter')
  await untilInPage(page, "document.activeElement.textContent === '↓Move Email down'")
  await untilInPage(
    page,
    "document.querySelector('iframe').contentDocument.querySelector('label').textContent.startsWith('Email')",
  )
  await page.getByLabel('Minimum seconds').fill('3')
  await page.getByLabel('Thank-you message').fill('See you on Friday!')
  await page.getByLabel('May show it in a frame').fill('nonsense')
  await look('71-form-new')
  for (const width of [1440, 380]) {
    await page.setViewportSize({ width, height: 600 })
    for (const direction of ['Tab', 'Shift+Tab'])
      for (let presses = 0; presses < 40; presses++) {
        await page.keyboard.press(direction)
        assert.equal(
          await page.evaluate(hiddenFocus),
          null,
          `${width} px, ${direction}: under a bar that stays in sight`,
        )
      }
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  complaints.splice(0)
  await press(/^Create form$/)
  await page.getByText('write origins, like https://example.com').waitFor()
  assert.match(complaints.splice(0).join(), /400/)
  await page.getByLabel('May show it in a frame').fill('https://shop.example')
  await button('Create form').click()
  await page
    .getByText('HTML of the form')
    .or(page.getByRole('heading', { name: 'HTML' }))
    .first()
    .waitFor()
  await look('72-form-share')
  const url = page.getByText(/\/f\/form_\w+$/).first()
  const address = (await url.textContent()) ?? ''

  const visitor = await page.context().newPage()
  await visitor.goto(address)
  await visitor.getByLabel('First name').fill('Eve')
  await visitor.getByLabel('Email').fill('eve@example.com')
  await visitor.getByLabel('Guests').fill('2')
  await visitor.getByLabel('Meal').selectOption('Salad')
  await visitor.getByLabel('Message').fill('=1+1')
  await visitor.getByRole('button', { name: 'Send' }).click()
  await visitor.getByText('See you on Friday!').waitFor()
  assert.deepEqual(await rows(), [])
  for (const name of ['Flo', 'Gus']) {
    // Entries are added in the order in which they came.
    rowport.clock.advanceMs(1_000)
    const entries = { first_name: name, email: 'f@example.com', guests: '1', meal: 'Soup', message: 'Hi' }
    const { status } = await fetch(address, { method: 'POST', body: new URLSearchParams(entries) })
    assert.equal(status, 200)
  }

  await page.bringToFront()
  await page.getByRole('link', { name: 'Held entries (3)' }).click()
  await page.getByText('sent too quickly').first().waitFor()
  await look('73-form-held')
  await press(/^Release eve@example\.com$/)
  await page.getByRole('link', { name: 'Held entries (2)' }).waitFor()
  await press(/^Release all$/)
  await page.getByRole('dialog').getByRole('button', { name: 'Release all' }).click()
  await page.getByRole('link', { name: 'Held entries', exact: true }).waitFor()
  await page.getByText('Nothing is held').waitFor()
  assert.match((await rows()).join(), /^,Eve,eve@example\.com,2,Salad,"=1\+1",20.*,,Flo,.*,,Gus,/)
  assert.equal((await rows()).length, 3)

  await page.getByRole('link', { name: 'Edit', exact: true }).click()
  await preview.getByText('Email', { exact: true }).waitFor()
  await page.getByLabel('Minimum seconds').fill('0')
  await press(/^Save form$/)
  await page.getByText('Party saved.').waitFor()
  for (const place of ['0', 'document.body.scrollHeight']) {
    await page.evaluate(`scrollTo(0, ${place})`)
    const toast = await page.getByText('Party saved.').boundingBox()
    const save = await button('Save form').boundingBox()
    assert.ok(toast && save && toast.y + toast.height <= save.y, 'what is said does not cover the button')
  }
  await page.getByRole('link', { name: 'Share', exact: true }).click()
  await page.getByRole('switch', { name: 'Takes entries' }).focus()
  await page.keyboard.press('Space')
  await page.getByText('closed', { exact: true }).waitFor()
  await visitor.goto(address)
  await visitor.getByText('This form is closed').waitFor()
  await visitor.close()
  await load(`${rowport.workshop.baseUrl}/forms`, 'Party')
  await look('74-forms')
  await page.getByRole('link', { name: 'Party', exact: true }).click()
  await page.getByRole('link', { name: 'Share', exact: true }).click()
  await press(/^Delete this form$/)
  await press(/^Delete form$/)
  await page.getByText('No forms yet').waitFor()

  await page.goto(`${rowport.workshop.baseUrl}/keys`)
  await press(/^Create publishable key$/)
  await page.getByRole('dialog').getByLabel('Both').check()
  await page.setViewportSize({ width: 1440, height: 1400 })
  await look('75-publishable-key')
  assert.deepEqual(complaints, [])
})

/** As the real one: it puts a frame of its own host and a field with what it found into the form. */
const widget = `for (const place of document.querySelectorAll('.cf-turnstile')) {
  const frame = document.createElement('iframe')
  frame.src = 'https://challenges.cloudflare.com/frame'
  frame.title = 'Widget'
  frame.height = 60
  const field = document.createElement('input')
  field.type = 'hidden'
  field.name = 'cf-turnstile-response'
  field.value = place.dataset.sitekey + ' passed'
  place.append(frame, field)
}`

/** What has the focus and lies under something else, or null. */
const hiddenFocus = `(() => {
  const field = document.activeElement
  if (!field.matches('main :is(a, button, input, select, textarea)')) return null
  const { left, top, width, height } = field.getBoundingClientRect()
  const shown = [1, height / 2, height - 1].map((y) => document.elementFromPoint(left + width / 2, top + y))
  return shown.every((one) => one === field || one?.contains(field) || field.contains(one)) ? null : field.outerHTML
})()`

test('a captcha is set in the dashboard, shown to visitors within the page’s own policy, and needed', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const provider = await startCaptchaProvider(t)
  const settings = {
    baseUrl: 'http://127.0.0.1:0',
    captcha: { endpoint: provider.url, answerWithinMs: 5_000 },
  }
  const rowport = await startRowport(t, { settings })
  const sheet = await rowport.connectFile('guests', 'guests.csv', 'name\nAnn\n')
  const { page, look, complaints } = await createLooks(t)
  await page
    .context()
    .route('https://challenges.cloudflare.com/**', (route) =>
      route.request().url().endsWith('api.js')
        ? route.fulfill({ contentType: 'text/javascript', body: widget })
        : route.fulfill({ contentType: 'text/html', body: '<title>Widget</title>Not a robot' }),
    )
  await signInByLink(page, rowport, '/forms/new')
  await page.getByLabel('Sheet', { exact: true }).selectOption('guests')
  await page.getByLabel('Provider').selectOption('Turnstile')
  await page.frameLocator('iframe').getByText('Turnstile is shown here.').waitFor()
  await page.getByLabel('Site key').fill('site-1')
  await page.getByLabel('Secret key').fill('hush')
  await look('76-form-captcha')
  await page.getByRole('button', { name: 'Create form' }).click()
  const url = page.getByText(/\/f\/form_\w+$/).first()
  const address = (await url.textContent()) ?? ''
  await page.getByText('class="cf-turnstile" data-sitekey="site-1"').first().waitFor()
  await page.getByRole('link', { name: 'Edit', exact: true }).click()
  assert.equal(await page.getByLabel('Secret key').inputValue(), '')
  await page.getByRole('button', { name: 'Save form' }).click()
  await page.getByText('Guests saved.').waitFor()

  await page.goto(address)
  await page.frameLocator('iframe').getByText('Not a robot').waitFor()
  await look('77-form-with-captcha')
  provider.answer = says({ success: false })
  await page.getByLabel('Name').fill('Bob')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('Please confirm that you are a person').waitFor()
  assert.equal(await page.getByLabel('Name').inputValue(), 'Bob')
  assert.match(complaints.splice(0).join(), /^[^,]*422[^,]*$/)
  provider.answer = says({ success: true })
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('Your entry was sent.').waitFor()
  assert.match(await readFile(sheet.path, 'utf8'), /\nBob\n$/)
  assert.deepEqual(
    provider.asked.map(({ body: { secret, response } }) => [secret, response]),
    Array.from({ length: 2 }, () => ['hush', 'site-1 passed']),
  )
  assert.deepEqual(complaints, [])
})
