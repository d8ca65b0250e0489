import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { defaultShares } from '../../src/shares/shares.ts'
import { done, type Rowport, startRowport } from '../harness.ts'
import { holdsOfTwo } from '../measured-twice.ts'
import { patienceMs } from '../soak.ts'
import { signInByLink } from './at-the-dashboard.ts'
import { createLooks, skip } from './looks.ts'

const settings = { baseUrl: 'http://127.0.0.1:0', shares: { ...defaultShares, sheets: 300 } }
const loads = 7
/** Two frames of the page's own clock are added. */
const feedbackMs = 150 + 34

test('with 200 sheets and 100 keys the first paint comes within 1.2 times that of an empty account', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const [empty, full] = [await startRowport(t, { settings }), await startRowport(t, { settings })]
  for (let at = 1; at <= 200; at++) await full.connectFile(`bulk-${at}`, `bulk-${at}.csv`, 'a\n1\n')
  for (let at = 0; at < 100; at++) await full.createKey()
  const [ofEmpty, ofFull] = [(await createLooks(t)).page, (await createLooks(t)).page]
  await signInByLink(ofEmpty, empty, '/sheets')
  await signInByLink(ofFull, full, '/sheets')

  // By turns, so that a machine that is busy for a while is as busy for both.
  async function firstPaints(): Promise<{ emptyMs: number; fullMs: number }> {
    const emptyMs: number[] = []
    const fullMs: number[] = []
    for (const path of ['/sheets', '/keys'])
      for (let at = 0; at < loads; at++) {
        emptyMs.push(await firstPaintMs(ofEmpty, empty, path))
        fullMs.push(await firstPaintMs(ofFull, full, path))
      }
    return { emptyMs: median(emptyMs), fullMs: median(fullMs) }
  }

  const { emptyMs, fullMs } = await holdsOfTwo(firstPaints, (paints) =>
    paints.fullMs <= paints.emptyMs * 1.2
      ? null
      : `${Math.round(paints.fullMs)} ms instead of ${Math.round(paints.emptyMs)}`,
  )
  t.diagnostic(
    `first paint: empty ${Math.round(emptyMs)} ms, 200 sheets and 100 keys ${Math.round(fullMs)} ms`,
  )
})

async function firstPaintMs(page: Page, { workshop }: Rowport, path: string): Promise<number> {
  await page.goto(workshop.baseUrl + path)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  return page.evaluate<number>(paintedAtMs)
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}

test('with 200 sheets and 100 keys, two letters find one at once', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings })
  const { page } = await createLooks(t)
  for (let at = 1; at <= 200; at++) await rowport.connectFile(`bulk-${at}`, `bulk-${at}.csv`, 'a\n1\n')
  for (let at = 0; at < 100; at++) await rowport.createKey()
  // No letters that the shown ends of other keys may have by chance: these are searched too.
  await rowport.connectFile('z-last', 'stripes.csv', 'a\n1\n')
  const named = { accountSlug: 'acme', name: 'Z-last', mode: 'live', scope: 'read', sheetSlug: null } as const
  done(await rowport.workshop.keys.create(named))
  await signInByLink(page, rowport, '/sheets')

  async function foundMs(path: string, field: string, letters: string): Promise<number> {
    await page.goto(rowport.workshop.baseUrl + path)
    await page.getByLabel(field).focus()
    await page.evaluate(watchList)
    await page.keyboard.type(letters)
    return page.evaluate<number>('window.found')
  }

  for (const [path, field] of [
    ['/sheets', 'Find a sheet'],
    ['/keys', 'Find a key'],
  ] as const) {
    const { oneMs } = await holdsOfTwo(
      async () => ({ oneMs: await foundMs(path, field, 'z-') }),
      ({ oneMs: ms }) => (ms <= feedbackMs ? null : `${path}: found after ${Math.round(ms)} ms`),
    )
    t.diagnostic(`${path}: the one of many is alone ${Math.round(oneMs)} ms after the second letter`)
  }
})

/** A heading may stand in the page before the frame with it is painted. */
const paintedAtMs = `new Promise((resolve) => {
  const begunMs = performance.now()
  requestAnimationFrame(function look() {
    const [painted] = performance.getEntriesByName('first-contentful-paint')
    if (painted || performance.now() - begunMs > 5_000) resolve(painted?.startTime ?? Infinity)
    else requestAnimationFrame(look)
  })
})`

/** From the second letter until the list has one row, by the page's own clock. */
const watchList = `window.found = new Promise((resolve) => {
  const begunMs = performance.now()
  const typedAtMs = []
  document.addEventListener('keydown', ({ timeStamp }) => typedAtMs.push(timeStamp))
  requestAnimationFrame(function look() {
    const nowMs = performance.now()
    const isFound = typedAtMs.length === 2 && document.querySelectorAll('tbody tr').length === 1
    if (isFound) resolve(nowMs - typedAtMs[1])
    else if (nowMs - begunMs > 5_000) resolve(Infinity)
    else requestAnimationFrame(look)
  })
}), undefined`
