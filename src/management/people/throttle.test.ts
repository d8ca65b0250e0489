import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSealing } from '../../secrets/sealing.ts'
import type { RateWindows } from '../../shared-state/rate-windows/rate-windows.ts'
import { createThrottle } from './throttle.ts'

/** Windows that only remember what they were called. */
function namesOf(): { names: Set<string>; windows: RateWindows } {
  const names = new Set<string>()
  const open = (name: string) => {
    names.add(name)
    return { isAdmitted: true, remaining: 1, resetAtMs: 0, nowMs: 0 }
  }
  return { names, windows: { takeFromWindow: open, readWindow: open } }
}

test('however many networks and e-mail addresses are tried, so many windows are kept and no more', async () => {
  const { names, windows } = namesOf()
  const throttle = createThrottle(windows, createSealing('the secret of the tests', []).digest)
  const tried = 20_000
  const steps = [{ tries: 6, windowMs: 30_000 }]
  for (let n = 0; n < tried; n++) {
    await throttle.attempt([
      { kind: 'sign-in', whom: `${n}@example.com 2001:db8:0:${n.toString(16)}::/64`, steps },
      { kind: 'sign-in from', whom: `2001:db8:0:${n.toString(16)}::/64`, steps },
    ])
  }
  const most = 2 * 8_192
  process.stdout.write(
    `${tried} e-mail addresses from as many networks: ${names.size} windows, at most ${most}\n`,
  )
  assert.ok(names.size <= most)
  assert.ok(names.size > most * 0.8, 'and they are spread over all of them')
})

test('who shares a window with whom is known to this deployment alone', async () => {
  const shared = async (secret: string) => {
    const { names, windows } = namesOf()
    const throttle = createThrottle(windows, createSealing(secret, []).digest)
    await throttle.problemNow([{ kind: 'sign-up', whom: '192.0.2.1', steps: [{ tries: 1, windowMs: 1 }] }])
    return [...names]
  }
  assert.deepEqual(await shared('the secret of the tests'), await shared('the secret of the tests'))
  assert.notDeepEqual(await shared('the secret of the tests'), await shared('another secret of 16'))
})
