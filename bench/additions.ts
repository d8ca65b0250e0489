import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { latencyMsIn, loaderCore, onCore, perSecondIn, requestsIn } from './load.ts'

const clients = 50

export interface AddedRows {
  rows: number
  perSecond: number
  p50Ms: number
  p99Ms: number
}

const script = `
local n = 0
request = function()
  n = n + 1
  return wrk.format("POST", nil, nil, '{"name":"client ' .. n % ${clients} .. '","price":' .. n .. '}')
end
`

/** Each client adds one row after the other, and every answer must be a success. */
export async function additions(url: string, apiKey: string, forSeconds: number): Promise<AddedRows> {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-bench-additions-'))
  try {
    const scriptFile = join(folder, 'additions.lua')
    await writeFile(scriptFile, script)
    const [program = '', ...args] = onCore(loaderCore, [
      ...['wrk', '-t1', `-c${clients}`, `-d${forSeconds}s`, '--latency', '--timeout=20s'],
      ...['-s', scriptFile, '-H', `Authorization: Bearer ${apiKey}`, url],
    ])
    const { stdout } = await promisify(execFile)(program, args)
    if (!(requestsIn(stdout) > 0) || /Non-2xx|Socket errors/.test(stdout))
      throw new Error(`The additions to ${url} failed: ${stdout}`)
    return {
      rows: requestsIn(stdout),
      perSecond: perSecondIn(stdout),
      p50Ms: latencyMsIn(stdout, 50),
      p99Ms: latencyMsIn(stdout, 99),
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}
