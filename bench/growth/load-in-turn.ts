import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createLoadClient } from '../../test/load-clients.ts'
import { latencyMsIn, loaderCore, onCore, perSecondIn, requestsIn } from '../load.ts'
import type { Ground } from './ground.ts'
import type { Point } from './point.ts'

export interface Asked {
  path: string
  apiKey: string
}

/** Few, so that p50 tells how long a request takes and not how many wait before it. */
const connections = 8
/** Slices of a second, until what is compiled is compiled; on a crowded machine that takes more than one. */
const warmUp = { leastRequests: 3_000, mostSlices: 4 }

/** Where a slice has fewer, each takes long, and a longer slice says more. */
const fewRequests = 50
const longSeconds = 8

/** Each line of the file is a request: they are sent in turn. */
const script = `local requests, at = {}, 0
init = function(args)
  for line in io.lines(args[1]) do
    local path, key = line:match("^(%S+) (%S+)$")
    requests[#requests + 1] = wrk.format("GET", path, { Authorization = "Bearer " .. key })
  end
end
request = function()
  at = at % #requests + 1
  return requests[at]
end
`

/** Reads in turn what is asked, over a few connections, as fast as it is answered. */
export async function loadInTurn(
  ground: Ground,
  url: string,
  asked: readonly Asked[],
  seconds: number,
): Promise<Omit<Point, 'at' | 'request'>> {
  const requestsFile = join(ground.folder, 'requests')
  const scriptFile = join(ground.folder, 'in-turn.lua')
  await writeFile(requestsFile, asked.map(({ path, apiKey }) => `${path} ${apiKey}\n`).join(''))
  await writeFile(scriptFile, script)
  const load = async (forSeconds: number) => {
    const [program = '', ...args] = onCore(loaderCore, [
      ...['wrk', '-t1', `-c${connections}`, `-d${forSeconds}s`, '--latency', '--timeout=20s'],
      ...['-s', scriptFile, url, '--', requestsFile],
    ])
    return (await promisify(execFile)(program, args)).stdout
  }
  const measured = async (forSeconds: number) => {
    const end = ground.begin()
    const said = await load(forSeconds)
    return [said, end(requestsIn(said))] as const
  }
  await askEachOnce(url, asked)
  let warm = 0
  for (let slice = 0; slice < warmUp.mostSlices && warm < warmUp.leastRequests; slice++)
    warm += requestsIn(await load(1))
  let [told, figures] = await measured(seconds)
  if (requestsIn(told) < fewRequests) [told, figures] = await measured(longSeconds)
  if (!(requestsIn(told) > 0) || /Non-2xx|Socket errors/.test(told))
    throw new Error(`The load failed: ${told}`)
  return {
    ...figures,
    perSecond: perSecondIn(told),
    p50Ms: latencyMsIn(told, 50),
    p99Ms: latencyMsIn(told, 99),
  }
}

/** What is read for the first time is not what is measured. */
export async function askEachOnce(url: string, asked: readonly Asked[]): Promise<void> {
  const waiting = asked.values()
  const port = Number(new URL(url).port)
  const askOn = async () => {
    const client = createLoadClient()
    for (const each of waiting) {
      const { status, ...answer } = await client.ask({ port, ...each })
      if (status !== 200) throw new Error(`${each.path}: ${status} ${'text' in answer ? answer.text : ''}`)
    }
    client.close()
  }
  await Promise.all(Array.from({ length: connections }, askOn))
}
