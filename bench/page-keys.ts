import { execFile } from 'node:child_process'
import { Agent } from 'node:http'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { atMost } from './floored.ts'
import { twentyKilobytes } from './list-files.ts'
import { ask, listAddress, type RunningRowport, startRowport } from './processes.ts'
import { type FigureRow, median, withEnds } from './row.ts'
import { timedGet } from './timed-get.ts'

const most = 1.15
const rounds = 15
const requestsInRound = 150

/** One after the other and in turns: a visitor's own limit ends a load at once. */
export const pageKeys: FigureRow = {
  kind: 'figure',
  name: 'a publishable key: cached 20 KB list',
  measure: () =>
    withEnds(async (after) => {
      const rowport = await startRowport(twentyKilobytes())
      after(rowport.stop)
      const url = rowport.url + rowport.sheetPath
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      after(async () => agent.destroy())
      const secret = { Authorization: `Bearer ${rowport.apiKey}` }
      const publishable = {
        Authorization: `Bearer ${await publishableKey(rowport)}`,
        Origin: 'https://example.com',
      }
      const [one, other] = [await ask(url, secret), await ask(url, publishable)]
      if (!one.body.equals(other.body)) throw new Error('The two keys do not see the same')
      const ratios: number[] = []
      const all: { secretMs: number[]; publishableMs: number[] } = { secretMs: [], publishableMs: [] }
      for (let round = 0; round < rounds; round++) {
        const secretMs: number[] = []
        const publishableMs: number[] = []
        for (let n = 0; n < requestsInRound; n++) {
          secretMs.push(await timedGet(url, secret, agent))
          publishableMs.push(await timedGet(url, publishable, agent))
        }
        ratios.push(median(publishableMs) / median(secretMs))
        all.secretMs.push(...secretMs)
        all.publishableMs.push(...publishableMs)
      }
      const ratio = median(ratios)
      const said =
        `ratio         ${ratio.toFixed(2)} of a secret key\n` +
        `  p50           ${median(all.publishableMs).toFixed(2)} ms against ${median(all.secretMs).toFixed(2)} ms\n` +
        `  each round    ${ratios.map((each) => each.toFixed(2)).join(' ')}`
      return { said, floored: [atMost('times a secret key', ratio, most)] }
    }),
}

async function publishableKey({ filePath }: RunningRowport): Promise<string> {
  const { accountSlug, sheetSlug } = listAddress
  const policy = ['--may', 'read', '--origins', 'https://example.com', '--max-rows', '10000']
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      ...[
        'src/cli.ts',
        'key',
        'create',
        accountSlug,
        '--name',
        'page',
        '--publishable',
        '--sheet',
        sheetSlug,
      ],
      ...[...policy, '--per-minute', '10000', '--json'],
    ],
    { env: { ...process.env, ROWPORT_DATA: dirname(filePath), ROWPORT_LOG_LEVEL: 'warn' } },
  )
  return (JSON.parse(stdout) as { key: string }).key
}
