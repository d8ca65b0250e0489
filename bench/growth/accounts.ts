import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generateApiKey, hashApiKey } from '../../src/admission/api-key.ts'
import { locateFile } from '../../src/providers/file/file-location.ts'
import { fillStore, type KnownAccount } from './fill-store.ts'
import { openGround } from './ground.ts'
import { idleSecond } from './idle-second.ts'
import { loadInTurn } from './load-in-turn.ts'
import { type Axis, powersOfTen } from './point.ts'
import { csvOf } from './tables.ts'

const most = 1_000_000
const mostUsed = 100

export const accountsAxis: Axis = {
  name: 'accounts',
  unit: 'accounts in the store, each with a key and a sheet',
  about: `the keys of up to ${mostUsed} of them are used in turn, each for its own sheet, all on one CSV file; 8 connections`,
  drawn: ['first page, key after key'],
  async *measure(store, after, wish) {
    const { seconds } = wish
    const ground = await openGround(store, after)
    const file = join(ground.folder, 'list.csv')
    await writeFile(file, csvOf(100))
    // The store is made, with all its tables.
    await ground.prepare(async () => {})
    const known: (KnownAccount & { apiKey: string })[] = []
    let there = 0
    for (const accounts of powersOfTen(1, most, wish)) {
      const fresh = Array.from({ length: Math.min(accounts, mostUsed) - known.length }, (_, n) => {
        const apiKey = generateApiKey('live')
        return { slug: `used-${known.length + n}`, apiKey, keyHash: hashApiKey(apiKey) ?? '' }
      })
      known.push(...fresh)
      await ground.prepare(async () => {})
      await fillStore(ground.settings, locateFile(file, null), fresh, accounts - there - fresh.length)
      there = accounts
      const begunMs = performance.now()
      const { url } = await ground.start()
      const startedMs = performance.now() - begunMs
      const started = ground.sinceStart()
      yield {
        at: accounts,
        request: 'start, until it answers',
        ...started,
        p50Ms: startedMs,
        p99Ms: startedMs,
      }
      const asked = known.map(({ slug, apiKey }) => ({ path: `/api/sheets/${slug}/list?limit=50`, apiKey }))
      yield {
        at: accounts,
        request: 'first page, key after key',
        ...(await loadInTurn(ground, url, asked, seconds)),
      }
      if ([1, mostUsed, most].includes(accounts))
        yield { at: accounts, request: 'a second without requests', ...(await idleSecond(ground)) }
    }
  },
}
