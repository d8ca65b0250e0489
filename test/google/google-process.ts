import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../servers/free-port.ts'

/** A local Google in a process of its own: it takes nothing from the time of the one that is measured. */
export interface GoogleProcess {
  url: string
  control<Answer = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Answer>
  newSpreadsheet(owner: string, values: unknown[][]): Promise<{ spreadsheetId: string; refreshToken: string }>
  cells(spreadsheetId: string): Promise<unknown[][]>
  stop(): Promise<void>
}

export async function startGoogleProcess(
  t: { after(work: () => Promise<void>): void },
  settings: object = {},
): Promise<GoogleProcess> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../emulator/main.ts')], {
    env: { ...process.env, PORT: String(port), HOST: '127.0.0.1' },
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  const killWithUs = () => child.kill('SIGKILL')
  process.once('exit', killWithUs)
  const stop = async () => {
    process.removeListener('exit', killWithUs)
    child.kill('SIGKILL')
    await ended
  }
  t.after(stop)
  while (!(await fetch(url).catch(() => null))) {
    assert.equal(child.exitCode, null, 'the emulator does not come up')
    await sleep(50)
  }
  let token = ''
  const google: GoogleProcess = {
    url,
    async control<Answer>(method: string, path: string, body?: unknown) {
      const answer = await fetch(`${url}/_control/${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const parsed = await answer.json()
      assert.equal(answer.status, 200, JSON.stringify(parsed))
      return parsed as Answer
    },
    async newSpreadsheet(owner, values) {
      const tokens = await google.control('POST', 'tokens', { user: owner })
      token = String(tokens.access_token)
      const made = await google.control('POST', 'spreadsheets', {
        title: 'Orders',
        owner,
        tabs: [{ title: 'Items', values }],
      })
      return { spreadsheetId: String(made.spreadsheetId), refreshToken: String(tokens.refresh_token) }
    },
    async cells(spreadsheetId) {
      const range = 'Items?valueRenderOption=UNFORMATTED_VALUE'
      const answer = await fetch(`${url}/v4/spreadsheets/${spreadsheetId}/values/${range}`, {
        headers: { Authorization: `Bearer ${token}` },
      })
      const { values = [] } = (await answer.json()) as { values?: unknown[][] }
      return values
    },
    stop,
  }
  await google.control('POST', 'settings', settings)
  return google
}
