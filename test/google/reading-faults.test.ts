import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultKinds } from '../../emulator/faults/fault.ts'
import { callLimits } from '../../src/providers/remote/remote-calls.ts'
import { CredentialExpired, ProviderFailure } from '../../src/sheets/provider-failure.ts'
import { holdsOfTwo } from '../measured-twice.ts'
import { startReadingGround } from './reading-ground.ts'

const mebibyte = 1024 * 1024
const hasty = {
  callLimits: { ...callLimits, readMs: 1_000, firstBackoffMs: 5 },
  transportLimits: { silenceMs: 300, maxBodyBytes: 8 * mebibyte },
}
const values = [
  ['name', 'price'],
  ['tea', 3],
]

test('whatever goes wrong at Google is a failure in words, soon, and over when Google is well', async (t) => {
  for (const kind of faultKinds) {
    await t.test(kind, async (t) => {
      const ground = await startReadingGround(t, hasty)
      const { place } = await ground.newSpreadsheet(values)
      const extra = kind === 'answer' ? { status: 200, body: { valueRanges: 'none' } } : {}
      await ground.local.control('POST', 'faults', { kind, ...extra, rate: 1, bytes: 80 * mebibyte })
      const startMs = performance.now()
      await assert.rejects(ground.rows(place), (error) => {
        assert.ok(error instanceof ProviderFailure, String(error))
        assert.ok(!(error instanceof CredentialExpired))
        assert.doesNotMatch(`${error.message} ${error.facts.details ?? ''}`, /<|ya29|1\/\/|undefined|\{/)
        return true
      })
      const tookMs = performance.now() - startMs
      // The limits of this test, not the product's own.
      assert.ok(tookMs < callLimits.readMs, `${tookMs} ms`)
      assert.equal(ground.credentials.all.get(ground.credentialId)?.state, 'valid')
      await ground.local.control('DELETE', 'faults')
      ground.local.clock.advanceMs(5_000)
      assert.deepEqual(await ground.rows(place), [{ name: 'tea', price: 3 }])
    })
  }
})

test('a single mishap of any kind that passes is not noticed', async (t) => {
  const ground = await startReadingGround(t, hasty)
  const { place } = await ground.newSpreadsheet(values)
  for (const kind of ['500', '503', 'reset', 'html', 'truncated', 'cut', '503AfterApply', 'hang']) {
    await ground.local.control('POST', 'faults', { kind, times: 1 })
    ground.local.clock.advanceMs(60_000)
    assert.deepEqual(await ground.rows(place), [{ name: 'tea', price: 3 }], kind)
  }
})

test('an answer of a hundred megabytes, or one that swells to it, costs no more memory than is allowed', async (t) => {
  const ground = await startReadingGround(t, {
    ...hasty,
    callLimits: { ...callLimits, readMs: 20_000 },
    transportLimits: { silenceMs: 5_000, maxBodyBytes: 8 * mebibyte },
  })
  const { place } = await ground.newSpreadsheet(values)
  async function mostMemoryMebibytes(): Promise<number> {
    const before = process.memoryUsage().arrayBuffers
    let most = 0
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before)
    }, 5)
    t.after(() => clearInterval(watch))
    for (const gzip of [false, true]) {
      // With formats it is too large, and so are its values alone.
      await ground.local.control('POST', 'faults', { kind: 'huge', gzip, bytes: 200 * mebibyte, times: 2 })
      await assert.rejects(
        ground.rows(place),
        (error) =>
          error instanceof ProviderFailure && /too large/.test(error.message) && !error.facts.isPassing,
      )
    }
    clearInterval(watch)
    return Math.round(most / mebibyte)
  }
  // What is read and dropped counts until it is collected, and a busy machine collects late.
  await holdsOfTwo(mostMemoryMebibytes, (most) => (most < 40 ? null : `${most} MiB`))
})

test('an API that is switched off is told to the operator, and no owner loses a credential over it', async (t) => {
  const ground = await startReadingGround(t)
  const { place } = await ground.newSpreadsheet(values)
  await ground.local.control('POST', 'settings', { disabledServices: ['sheets'] })
  await assert.rejects(
    ground.rows(place),
    (error) =>
      error instanceof ProviderFailure &&
      !(error instanceof CredentialExpired) &&
      /operator/.test(error.facts.details ?? '') &&
      /console\.developers\.google\.com/.test(error.facts.details ?? ''),
  )
  assert.equal(ground.credentials.all.get(ground.credentialId)?.state, 'valid')
})
