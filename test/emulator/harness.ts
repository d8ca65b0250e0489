import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { GoogleCall, GoogleWorld } from '../../emulator/google-api.ts'
import { createEmulator, type Emulator, type EmulatorOptions } from '../../emulator/server.ts'
import { createMovableClock, type MovableClock } from '../../src/clock.ts'

export const driveFile = 'https://www.googleapis.com/auth/drive.file'
export const spreadsheetsScope = 'https://www.googleapis.com/auth/spreadsheets'
export const redirectUri = 'http://app.example/callback'

/** A local Google in this process, with a clock that the test moves. */
export interface LocalGoogle {
  url: string
  emulator: Emulator
  clock: MovableClock
  /** A call of the control API that must succeed; its answer. */
  control<Answer = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Answer>
  tokens(user: string, scopes?: string[]): Promise<{ access_token: string; refresh_token: string }>
  /** POST /token. */
  exchange(parameters: Record<string, string>): Promise<{ status: number; body: Record<string, unknown> }>
  /** A call of Sheets or Drive with a bearer token. */
  api(token: string, method: string, path: string, body?: unknown): Promise<Response>
}

export async function startLocalGoogle(t: TestContext, options: EmulatorOptions = {}): Promise<LocalGoogle> {
  const clock = createMovableClock(Date.now())
  const emulator = await createEmulator({ nowMs: clock.nowMs, ...options })
  t.after(() => emulator.close())
  const { url } = emulator

  const control = async <Answer>(method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(`${url}/_control/${path}`, {
      method,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const answer = await response.json()
    assert.equal(response.status, 200, JSON.stringify(answer))
    return answer as Answer
  }
  return {
    url,
    emulator,
    clock,
    control,
    tokens: (user, scopes) => control('POST', 'tokens', { user, ...(scopes ? { scopes } : {}) }),
    async exchange(parameters) {
      const body = new URLSearchParams(parameters)
      const response = await fetch(`${url}/token`, { method: 'POST', body })
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    },
    api: (token, method, path, body) =>
      fetch(`${url}${path}`, {
        method,
        headers: { Authorization: `Bearer ${token}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
  }
}

/** What a browser would send for the form, after the person's changes. */
export function formOf(html: string): URLSearchParams {
  const form = new URLSearchParams()
  const text = (value = ''): string =>
    value.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')
  for (const [, attributes = ''] of html.matchAll(/<input ([^>]*)>/g)) {
    const attribute = (name: string): string => text(new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1])
    const chosen = !/type="(radio|checkbox)"/.test(attributes) || attributes.endsWith('checked')
    if (chosen) form.append(attribute('name'), attribute('value'))
  }
  return form
}

/** A world without spreadsheets that writes down what was applied: for tests of what stands before it. */
export function createTellTaleWorld(): { world: GoogleWorld; applied: string[] } {
  const applied: string[] = []
  const world: GoogleWorld = {
    call({ method, path, body }: GoogleCall) {
      applied.push(`${method} ${path}`)
      return {
        status: 200,
        body: { spreadsheetId: 'S', range: 'Sheet1!A1', values: [['a', 'b']], got: body ?? null },
      }
    },
    createSpreadsheet: () => ({ spreadsheetId: 'S' }),
    dump: (spreadsheetId) => (spreadsheetId === 'S' ? { applied } : undefined),
    edit(edit) {
      if (edit.spreadsheetId !== 'S') throw new Error(`no spreadsheet ${edit.spreadsheetId}`)
      applied.push(`${edit.op} by a human`)
    },
    share() {},
    protect: () => ({ protectedRangeId: 1 }),
    spreadsheetsOf: () => [{ spreadsheetId: 'S', title: 'Only one' }],
    pick: (user, spreadsheetId) => void applied.push(`${user} picked ${spreadsheetId}`),
    isWrite: ({ method, path }) => (path.startsWith('/v4/') ? method !== 'GET' : null),
  }
  return { world, applied }
}
