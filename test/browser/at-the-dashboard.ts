import { setTimeout as sleep } from 'node:timers/promises'
import type { Page, Response } from 'playwright-core'
import { done, type Rowport } from '../harness.ts'

/** As the owner of `acme`, who then stands on the page at `path`. */
export async function signInByLink(page: Page, { workshop }: Rowport, path: string): Promise<void> {
  const { token } = done(await workshop.signIn.createLink('acme'))
  await page.goto(`${workshop.baseUrl}/sign-in-link?token=${token}`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Welcome, acme' }).waitFor()
  await page.goto(workshop.baseUrl + path)
}

/** What the page has asked the server to change, as `POST /dashboard/api/keys`: only what the server has answered. */
export function watchChanges(page: Page): string[] {
  const changes: string[] = []
  page.on('response', (response: Response) => {
    const method = response.request().method()
    if (method !== 'GET') changes.push(`${method} ${new URL(response.url()).pathname}`)
  })
  return changes
}

/** Back on the network, and on until whatever waited for it has had its turn. */
export async function comeBackOnline(page: Page): Promise<void> {
  await page.context().setOffline(false)
  await page.evaluate(settling)
}

/** What the page itself sends on coming back is sent before these. */
const settling = `(async () => {
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
  while (!navigator.onLine) await pause(10)
  for (let asked = 0; asked < 3; asked++) {
    await fetch('/dashboard/api/server')
    await pause(100)
  }
})()`

/** Until a JavaScript expression holds in the page, whose content policy lets nobody wait for one inside it. */
export async function untilInPage(page: Page, expression: string): Promise<void> {
  const endMs = performance.now() + 15_000
  while (!(await page.evaluate<boolean>(expression))) {
    if (performance.now() > endMs) throw new Error(`It never became true in the page: ${expression}`)
    await sleep(100)
  }
}
