import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startMailing, tokenIn } from '../mail/mailing.ts'
import { patienceMs } from '../soak.ts'
import { createLooks, skip, tabTo } from './looks.ts'

const next = 'a new password of mine'

test('an owner verifies the email, forgets the password and gets in again, by keyboard and mail alone', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const { rowport, peer } = await startMailing(t)
  const { baseUrl } = rowport.workshop
  const { page, look, load, complaints } = await createLooks(t)
  await load(`${baseUrl}/sign-up`, 'Create your account')
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByLabel('Password').fill('correct horse battery')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Welcome, ada' }).waitFor()
  const first = await peer.next()

  await load(`${baseUrl}/settings`, 'Not verified')
  await page.getByText('They start once your email is verified.').waitFor()
  await look('70-email-not-verified')
  await tabTo(page, /^Send again$/)
  await page.keyboard.press('Enter')
  await page.getByText('We’ve sent a link to ada@example.com.').waitFor()
  const again = await peer.next()
  assert.notEqual(tokenIn(again.text), tokenIn(first.text))

  const tab = await page.context().newPage()
  await tab.goto(`${baseUrl}/verify-email?token=${tokenIn(again.text)}`)
  await tab.close()
  await load(`${baseUrl}/verify-email?token=${tokenIn(again.text)}`, 'Verify your email')
  await look('71-verify-email')
  await tabTo(page, /^Verify email$/)
  await page.keyboard.press('Enter')
  await page.getByText('is verified.').waitFor()
  await look('72-email-verified', 'state')
  await page.getByRole('link', { name: 'Go to your dashboard' }).click()
  await page.getByRole('heading', { name: 'Welcome, ada' }).waitFor()
  await load(`${baseUrl}/settings`, 'Verified')
  const alerts = page.getByRole('switch', { name: 'Email alerts' })
  assert.equal(await alerts.getAttribute('aria-checked'), 'true')
  await alerts.focus()
  await page.keyboard.press('Space')
  await page.locator('[role=switch][aria-checked=false]').waitFor()
  await page.reload()
  await page.locator('[role=switch][aria-checked=false]').waitFor()
  await look('73-alerts-off', 'state')
  await page.getByLabel('New email').fill('ada@other.org')
  await page.keyboard.press('Enter')
  await page.getByText('Email changed.').waitFor()
  await page.getByText('Not verified', { exact: true }).waitFor()
  assert.deepEqual([(await peer.next()).to, (await peer.next()).to].sort(), [
    'ada@example.com',
    'ada@other.org',
  ])

  await page.context().clearCookies()
  await load(`${baseUrl}/sign-in`, 'Forgot your password?')
  await look('74-sign-in-with-mail', 'state')
  await tabTo(page, /^Reset it$/)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Reset your password' }).waitFor()
  await look('75-forgot-password')
  await page.getByLabel('Email').fill('ada@other.org')
  await page.keyboard.press('Enter')
  await page.getByText('If there’s an account for').waitFor()
  await look('76-link-sent', 'state')
  const token = tokenIn((await peer.next()).text)

  await load(`${baseUrl}/reset-password?token=${token}`, 'Choose a new password')
  await look('77-reset-password')
  await page.getByLabel('New password').fill(next)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Welcome, ada' }).waitFor()
  await load(`${baseUrl}/audit`, 'Password reset by email')
  await page.getByText('Email verified').waitFor()

  await load(`${baseUrl}/reset-password?token=${token}`, 'Choose a new password')
  await page.getByLabel('New password').fill('yet another password')
  await page.keyboard.press('Enter')
  await page.getByText('already been used or has expired').waitFor()
  await look('78-used-reset-link', 'state')
  await page.getByRole('link', { name: 'Request a new link' }).click()
  await page.getByRole('heading', { name: 'Reset your password' }).waitFor()
  // What the browser tells of: nobody is signed in, and a link that was used.
  assert.deepEqual(
    complaints.filter((complaint) => !/status of (?:400|401)/.test(complaint)),
    [],
  )
})
