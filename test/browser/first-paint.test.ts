import { test } from 'node:test'
import { defaultShares } from '../../src/shares/shares.ts'
import { startRowport } from '../harness.ts'
import { holdsOfTwo } from '../measured-twice.ts'
import { patienceMs } from '../soak.ts'
import { signInByLink } from './at-the-dashboard.ts'
import { createLooks, skip } from './looks.ts'

const settings = { baseUrl: 'http://127.0.0.1:0', shares: { ...defaultShares, sheets: 300 } }
const loads = 5

test('with 200 sheets and 100 keys the first paint comes within 1.2 times that of an empty account', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const rowport = await startRowport(t, { settings })
  const { page } = await createLooks(t)
  await signInByLink(page, rowport, '/sheets')

  async function firstPaintMs(): Promise<number> {
    const tookMs: number[] = []
    for (const path of ['/sheets', '/keys'])
      for (let at = 0; at < loads; at++) {
        await page.goto(rowport.workshop.baseUrl + path)
        await page.getByRole('heading', { level: 1 }).first().waitFor()
        tookMs.push(await page.evaluate<number>(paintedAtMs))
      }
    return tookMs.sort((a, b) => a - b)[loads] ?? 0
  }

  const emptyMs = Math.max(await firstPaintMs(), await firstPaintMs())
  for (let at = 1; at <= 200; at++) await rowport.connectFile(`bulk-${at}`, `bulk-${at}.csv`, 'a\n1\n')
  for (let at = 0; at < 100; at++) await rowport.createKey()
  const { fullMs } = await holdsOfTwo(
    async () => ({ fullMs: await firstPaintMs() }),
    ({ fullMs: ms }) =>
      ms <= emptyMs * 1.2 ? null : `${Math.round(ms)} ms instead of ${Math.round(emptyMs)}`,
  )
  t.diagnostic(
    `first paint: empty ${Math.round(emptyMs)} ms, 200 sheets and 100 keys ${Math.round(fullMs)} ms`,
  )
})

const paintedAtMs = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Infinity`
