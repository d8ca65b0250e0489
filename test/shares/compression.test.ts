import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { holdsOfTwo } from '../measured-twice.ts'
import { patienceMs, times } from '../soak.ts'
import { hurtIn, inWords, startNeighbours, victimDuring } from './neighbours.ts'

const rowsOfAttacker = times(200_000, 2_000_000)

test('who compresses long lists in every way at once keeps nobody else from a compressed one', {
  timeout: patienceMs,
}, async (t) => {
  const neighbours = await startNeighbours(t)
  const { attacker, victim, residentMb } = neighbours
  const large = await attacker.connect('large', csv(rowsOfAttacker))
  const lists = await Promise.all(
    // Each is asked for once: what was compressed is kept. The last ones are for a second measurement.
    Array.from({ length: 13 }, (_, at) => victim.connect(`list-${at}`, csv(6_000 + at))),
  )
  const cheap = `${lists[0]?.formA}?limit=1`
  for (const { formA } of lists) assert.equal((await victim.ask(formA)).status, 200)
  assert.equal((await attacker.ask(`${large.formA}?limit=1`)).status, 200)
  const gzip = { 'Accept-Encoding': 'gzip' }
  const list = async (at: number) => {
    const answer = await victim.ask(lists[at]?.formA ?? '', { headers: gzip })
    assert.equal(answer.status, 200)
    const coding = answer.headers['content-encoding'] ?? 'none'
    const body = coding === 'gzip' ? gunzipSync(answer.body) : answer.body
    assert.equal((JSON.parse(body.toString()) as unknown[]).length, 6_000 + at)
    assert.equal(answer.headers.vary, 'Accept, Accept-Encoding')
    assert.equal(answer.headers.etag?.endsWith('-gzip"'), coding === 'gzip')
    return { tookMs: answer.tookMs, coding }
  }
  const idleList = await list(0)
  const idle = await victimDuring(neighbours, cheap, () => sleep(1_000))
  t.diagnostic(`idle: list ${idleList.tookMs.toFixed(0)} ms, ${inWords(idle)}`)

  const shapes = ['', '?format=ndjson', '?row_numbers=true', '?format=csv']
  const ways = ['gzip', 'br', 'zstd'].flatMap((coding) => shapes.map((shape) => ({ coding, shape })))
  let lastList = 0
  for (const method of ['HEAD', 'GET']) {
    const attack = () =>
      Promise.all(
        ways.map(async ({ coding, shape }) => {
          const headers = { 'Accept-Encoding': coding }
          const { status, headers: told } = await attacker.ask(large.formA + shape, { method, headers })
          assert.equal(status, 200)
          return told['content-encoding'] ?? 'none'
        }),
      )
    const measure = async () => {
      const seen: Awaited<ReturnType<typeof list>>[] = []
      let codings: string[] = []
      let attackMs = 0
      const figures = await victimDuring(neighbours, cheap, async () => {
        const begunMs = performance.now()
        const attacked = attack().then((told) => {
          codings = told
          attackMs = performance.now() - begunMs
        })
        for (let n = 0; n < 3; n++) seen.push(await list(++lastList))
        await attacked
        // Long enough to ask the victim a few hundred times.
        while (performance.now() - begunMs < 1_500) await attack()
      })
      const told = seen.map(({ tookMs, coding }) => `${tookMs.toFixed(0)} ms (${coding})`).join(', ')
      const mine = [...Map.groupBy(codings, (coding) => coding)].map(
        ([coding, all]) => `${all.length} ${coding}`,
      )
      const words =
        `12 ${method} of ${rowsOfAttacker} rows took ${attackMs.toFixed(0)} ms (${mine.join(', ')}): victim's list ${told}; ` +
        `${inWords(figures)}; resident ${residentMb().toFixed(0)} MB`
      t.diagnostic(words)
      return { figures, words, attackMs, slowestMs: Math.max(...seen.map(({ tookMs }) => tookMs)) }
    }
    const mostMs = 1_000 + 10 * idleList.tookMs
    await holdsOfTwo(measure, ({ figures, words, attackMs, slowestMs }) => {
      if (slowestMs > mostMs) return `the victim's list took more than ${mostMs.toFixed(0)} ms: ${words}`
      if (method === 'HEAD' && attackMs > mostMs) return `HEAD compresses something: ${words}`
      return hurtIn(figures) && words
    })
  }
})

function csv(rows: number): string {
  const lines = Array.from(
    { length: rows },
    (_, n) => `${n},item ${n % 1_009},${(n * 7_919) % 10_007},some words ${(n * 31) % 4_999}`,
  )
  return `n,item,price,note\n${lines.join('\n')}\n`
}
