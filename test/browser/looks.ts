import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { after, type TestContext } from 'node:test'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { startMs } from '../harness.ts'
import { findChromium, launchChromium } from '../servers/chromium.ts'
import { times } from '../soak.ts'

export const skip = findChromium() ? false : 'Chromium is not on this machine'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const folder = 'test-artifacts'
/** Taking them is an eighth of what these tests cost, and most of the time nobody looks. */
const arePicturesWanted = process.env.PICTURES !== undefined || process.env.SOAK !== undefined

/** Tells what moved without anybody's doing since the page was loaded, and lives in the test's own time. */
const watching = `
  const offsetMs = ${startMs} - Date.now(), now = Date.now
  Date.now = () => now() + offsetMs
  window.shifted = 0
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, value } of list.getEntries()) if (!hadRecentInput) window.shifted += value
  }).observe({ type: 'layout-shift', buffered: true })
`

export interface Looks {
  page: Page
  /** What the browser complained about; whoever reads it takes it out. */
  complaints: string[]
  /**
   * Pictures for people, where `PICTURES=1` asks for them; for the machine, that nothing sticks out and axe finds nothing. Looks are
   * most of what these tests cost, so there are few in `npm run test:all` (a page light and wide, dark and narrow; a state of a page
   * once) and all in `npm run soak`: light and dark, at three widths, with axe each time.
   */
  look(name: string, of?: 'page' | 'state'): Promise<void>
  /** Loads a page by its address, waits until `isThere`, and holds it to what may move on the way. */
  load(address: string, isThere: string | RegExp): Promise<void>
}

/** Of the viewport, as browsers count it (CLS); 0.1 is called good. */
const maxShift = 0.02

let launched: Promise<Browser> | null = null
after(async () => (await launched)?.close())

/** One browser for all tests of a file; each has a profile of its own, which ends with it. */
export async function newProfile(
  t: TestContext,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  launched ??= launchChromium()
  const context = await (await launched).newContext(options)
  t.after(() => context.close())
  return context
}

export async function createLooks(t: TestContext): Promise<Looks> {
  const context = await newProfile(t, {
    viewport: { width: 1440, height: 900 },
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  const devTools = await context.newCDPSession(page)
  await mkdir(folder, { recursive: true })
  // A busy machine takes ten times as long as a free one.
  page.setDefaultTimeout(30_000)
  await page.addInitScript(watching)
  const complaints: string[] = []
  page.on('console', (message) => {
    // axe asks every frame, also the preview of a form, which takes no scripts.
    const isOfAxe = message.text().includes("Blocked script execution in 'about:srcdoc'")
    if (message.type() === 'error' && !isOfAxe) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))

  async function shoot(
    name: string,
    colorScheme: 'light' | 'dark',
    width: number,
    fullPage = true,
  ): Promise<void> {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 900 })
    // Some frames on: a picture that is taken sooner still shows the last look.
    const [overflow, isDialog] = await page.evaluate<[number, boolean]>(
      `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => resolve([
        document.documentElement.scrollWidth - window.innerWidth,
        document.querySelector('dialog[open]') !== null,
      ]), 60))))`,
    )
    assert.ok(overflow <= 0, `${name}: nothing sticks out at ${width} px`)
    if (!arePicturesWanted) return
    // A dialog covers what can be seen, and no more.
    const { cssContentSize } = await devTools.send('Page.getLayoutMetrics')
    // What fits is shown as it is: for more, the browser lays out the page once again, and not all of it like that.
    const isWhole = fullPage && !isDialog && cssContentSize.height > 900
    // Straight from the browser, which packs it quickly: Playwright's own way takes half as long again.
    const { data } = await devTools.send('Page.captureScreenshot', {
      optimizeForSpeed: true,
      ...(isWhole && { captureBeyondViewport: true, clip: { ...cssContentSize, scale: 1 } }),
    })
    await writeFile(`${folder}/dashboard-${name}-${colorScheme}-${width}.png`, data, 'base64')
  }

  async function examine(name: string): Promise<void> {
    const options = { resultTypes: ['violations'] }
    if (!(await page.evaluate("'axe' in window"))) await page.evaluate(`${axeSource}; undefined`)
    const found = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
      `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`,
    )
    const told = found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
    assert.deepEqual(told, [], name)
  }

  return {
    page,
    complaints,
    async look(name, of = 'page') {
      const isThorough = times(0, 1) === 1
      await shoot(name, 'light', 1440)
      await examine(name)
      if (isThorough) {
        for (const colorScheme of ['light', 'dark'] as const)
          for (const width of [1440, 1024, 380]) {
            await shoot(name, colorScheme, width, of === 'page')
            await examine(`${name}, ${colorScheme}, ${width} px`)
          }
      } else if (of === 'page') await shoot(name, 'dark', 380)
      await page.emulateMedia({ colorScheme: 'light' })
      await page.setViewportSize({ width: 1440, height: 900 })
    },
    async load(address, isThere) {
      await page.goto(address)
      await page.getByText(isThere).first().waitFor()
      await page.locator('[role=status].animate-pulse').first().waitFor({ state: 'detached' })
      const shifted = await page.evaluate<number>(
        'new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => resolve(window.shifted), 50)))',
      )
      assert.ok(shifted <= maxShift, `${address}: what is on the page moves by ${shifted}`)
    },
  }
}

/** Without a mouse: Tab until what is wanted has the focus. */
export async function tabTo(page: Page, wanted: RegExp): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    const focused = await page.evaluate<string>(
      "(document.activeElement?.textContent || document.activeElement?.getAttribute('name') || '').trim()",
    )
    if (wanted.test(focused)) return
    await page.keyboard.press('Tab')
  }
  assert.fail(`${wanted} cannot be reached by Tab`)
}
