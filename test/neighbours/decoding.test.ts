import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { holdsOfTwo } from '../measured-twice.ts'
import { patienceMs, times } from '../soak.ts'
import { figures, largeCsv, probe, quantile, startNeighbours, type Timed } from './tenants.ts'

const megabytes = times(3, 50)
const previews = times(20, 100)
const waiting = times(4, 8)
const mostResidentMb = times(450, 1_500)
const mostCachedMs = 50
const mostFirstMs = 1_000

const skip = existsSync('/proc/self/status') ? false : 'resident memory is read from /proc'

test('an account that lets many large files be read at once holds up nobody else', {
  skip,
  timeout: patienceMs,
}, async (t) => {
  const shares = JSON.stringify({ decoding_waiting: waiting })
  const { server, attacker, victim, peakResidentMb, metric } = await startNeighbours(t, {
    ROWPORT_SHARES: shares,
  })
  await attacker.upload('large.csv', largeCsv(megabytes))
  await victim.upload('small.csv', 'a,b\n1,2\n')
  const cached = await victim.connect('cached', 'a,b\n1,2\n')
  const changing = await victim.connect('changing', 'n\n0\n')
  let changes = 0
  const readCached = () => cached.read()
  const readFirst = async () => {
    await changing.replace(`n\n${++changes}\n`)
    const answer = await changing.read({ 'Cache-Control': 'no-cache' })
    assert.match(answer.text, new RegExp(`"n":${changes}\\b`))
    return answer
  }
  const preview = () => victim.preview('small.csv')
  const probeAll = async (isOver: () => boolean) => {
    const [cachedMs, firstMs, previewMs] = await Promise.all([
      probe(isOver, 5, readCached),
      probe(isOver, 50, readFirst),
      probe(isOver, 50, preview),
    ])
    return { cachedMs, firstMs, previewMs }
  }
  // Both threads are started when they are first needed, which is no part of this.
  const [alone] = await Promise.all([attacker.preview('large.csv'), preview(), readFirst(), readCached()])
  assert.equal(alone.status, 200, alone.text)
  const idleUntilMs = performance.now() + 1_500
  const idle = await probeAll(() => performance.now() > idleUntilMs)
  const idleMb = peakResidentMb()

  let refusals = 0
  const measure = async () => {
    let isOver = false
    const attack = Promise.all(Array.from({ length: previews }, () => attacker.preview('large.csv')))
    const attacked = probeAll(() => isOver)
    const answers = await attack
    isOver = true
    const took = await attacked
    const served = answers.filter(({ status }) => status === 200)
    const refused = answers.filter(({ status }) => status === 429)
    const attackMs = Math.max(...answers.map(({ tookMs }) => tookMs))
    const words =
      `${previews} previews of ${megabytes} MB at once (alone ${alone.tookMs.toFixed(0)} ms): ` +
      `${served.length} served in ${attackMs.toFixed(0)} ms, ${refused.length} refused; ` +
      `resident ${idleMb.toFixed(0)} MB before, ${peakResidentMb().toFixed(0)} MB at most\n` +
      `victim, cached read: ${figures(idle.cachedMs)} idle, ${figures(took.cachedMs)} attacked\n` +
      `victim, first read: ${figures(idle.firstMs)} idle, ${figures(took.firstMs)} attacked\n` +
      `victim, preview: ${figures(idle.previewMs)} idle, ${figures(took.previewMs)} attacked\n`
    process.stdout.write(words)
    assert.equal(served.length, waiting + 1)
    assert.equal(refused.length, previews - waiting - 1)
    for (const one of refused) assertTooMany(one)
    refusals += refused.length
    assert.equal(
      await metric('rowport_shares_used_up_total{share="decoding_waiting"}'),
      refusals,
      'the operator sees it',
    )
    assert.ok(peakResidentMb() <= mostResidentMb, words)
    return { ...took, words }
  }
  // On a machine that is busy with others as well, everything takes its time; but never as long as waiting for a large file.
  const busyFirstMs = Math.max(mostFirstMs, alone.tookMs)
  const busyCachedMs = Math.max(mostCachedMs, 3 * quantile(idle.cachedMs, 0.99))
  await holdsOfTwo(measure, ({ cachedMs, firstMs, previewMs, words }) => {
    if (Math.max(...firstMs) > busyFirstMs) return `a first read waited: ${words}`
    if (Math.max(...previewMs) > busyFirstMs) return `a preview waited: ${words}`
    return quantile(cachedMs, 0.99) > busyCachedMs ? `a cached read waited: ${words}` : null
  })

  const after = await attacker.preview('large.csv')
  assert.equal(after.status, 200, 'there is room again')
  assert.equal((await readCached()).status, 200)
  assert.equal((await fetch(`${server.url}/readyz`)).status, 200)
})

function assertTooMany({ text, headers }: Timed): void {
  assert.equal((JSON.parse(text) as { error: { code: string } }).error.code, 'too_many_at_once')
  assert.ok(Number(headers.get('retry-after')) >= 1)
}
