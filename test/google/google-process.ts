import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../servers/free-port.ts'

/** A local Google in a process of its own: it takes nothing from the time of the one that is measured. */
export interface GoogleProcess {
  url: string
  pid: number
  control<Answer = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Answer>
  newSpreadsheet(owner: string, values: unknown[][]): Promise<{ spreadsheetId: string; refreshToken: string }>
  /** All cells of its tab, looked at from the side: no ration refuses that, whatever was asked before. */
  cells(spreadsheetId: string): Promise<unknown[][]>
  stop(): Promise<void>
}

interface Dump {
  tabs: { values: unknown[][] }[]
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
  const google: GoogleProcess = {
    url,
    pid: child.pid ?? 0,
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
      const made = await google.control('POST', 'spreadsheets', {
        title: 'Orders',
        owner,
        tabs: [{ title: 'Items', values }],
      })
      return { spreadsheetId: String(made.spreadsheetId), refreshToken: String(tokens.refresh_token) }
    },
    async cells(spreadsheetId) {
      const { tabs } = await google.control<Dump>('GET', `spreadsheets/${spreadsheetId}`)
      const rows = (tabs[0]?.values ?? []).map((row) => withoutBlankEnd(row.map((cell) => cell ?? '')))
      return rows.slice(0, rows.findLastIndex(({ length }) => length > 0) + 1)
    },
    stop,
  }
  await google.control('POST', 'settings', settings)
  return google
}

function withoutBlankEnd(row: readonly unknown[]): unknown[] {
  return row.slice(0, row.findLastIndex((cell) => cell !== '') + 1)
}
