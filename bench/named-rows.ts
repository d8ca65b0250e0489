import { startGoogleProcess } from '../test/google/google-process.ts'
import { createPlainClient } from '../test/writing/plain-client.ts'
import { atMost } from './floored.ts'
import { type FigureRow, median, withEnds } from './row.ts'
import { startRowportOnGoogle } from './rowport-on-google.ts'
import { startLargeSheet } from './timed-get.ts'

const reads = 400
const mostOfARead = 1.2

/** One of 100,000 rows by its value beside the same by its number, in turns. */
export const namedRow: FigureRow = {
  kind: 'figure',
  name: 'one of 100,000 rows by a value',
  measure: () =>
    withEnds(async (after) => {
      const { timed } = await startLargeSheet(after)
      await timed('?sort=id&limit=1')
      const byNumber: number[] = []
      const byValue: number[] = []
      for (let n = 0; n < reads; n++) {
        const row = 2 + ((n * 7_919) % 99_990)
        byNumber.push(await timed(`/${row}`))
        byValue.push(await timed(`/by/id/${row - 1}`))
      }
      const [number, value] = [median(byNumber.slice(50)), median(byValue.slice(50))]
      const said = `by number p50 ${number.toFixed(3)} ms, by value ${value.toFixed(3)} ms: ${(value / number).toFixed(2)}`
      return { said, floored: [atMost('times by its number', value / number, mostOfARead)] }
    }),
}

const rowsAtGoogle = 100_000
const rounds = 5
const mostOfAnAddition = 2

/** 1,000 rows of which half are there, beside as many plain additions, on a tab of 100,000. */
export const upsertAtGoogle: FigureRow = {
  kind: 'figure',
  name: 'an upsert of 1,000 rows on 100,000 at Google',
  measure: () =>
    withEnds(async (after) => {
      const latencyMs = { write: 400, read: 300 }
      const google = await startGoogleProcess({ after }, { latencyMs, quotas: false })
      const values = Array.from({ length: rowsAtGoogle }, (_, n) => [`row ${n}`, `Person ${n}`, n / 100])
      const { url, apiKey } = await startRowportOnGoogle(google, after, {
        values: [['id', 'name', 'price'], ...values],
      })
      const client = createPlainClient(apiKey)
      after(async () => client.close())
      const timed = async (query: string, body: object[], wanted: number) => {
        const begunMs = performance.now()
        const { status, body: told } = await client.send(
          `${url}/api/sheets/acme/s${query}`,
          'POST',
          JSON.stringify(body),
          null,
        )
        if (status !== wanted) throw new Error(`Rowport answered ${status} ${told.slice(0, 200)}`)
        return performance.now() - begunMs
      }
      const calls = async () =>
        (await google.control<{ calls: { kind: string }[] }>('GET', 'calls')).calls.map(({ kind }) => kind)
      const rowsOf = (round: number, from: (n: number) => string) =>
        Array.from({ length: 1_000 }, (_, n) => ({ id: from(n), name: `Round ${round}`, price: round }))
      const additions: number[] = []
      const upserts: number[] = []
      let counted = ''
      for (let round = 0; round < rounds; round++) {
        additions.push(
          await timed(
            '',
            rowsOf(round, (n) => `new ${round} ${n}`),
            201,
          ),
        )
        const before = (await calls()).length
        const mixed = rowsOf(round, (n) => (n % 2 ? `row ${round * 5_000 + n * 3}` : `more ${round} ${n}`))
        upserts.push(await timed('?upsert=id', mixed, 201))
        const made = (await calls()).slice(before)
        counted = `${made.filter((kind) => kind === 'read').length} reads, ${made.filter((kind) => kind === 'write').length} writes`
      }
      const [addition, upsert] = [median(additions), median(upserts)]
      const said = `addition ${addition.toFixed(0)} ms, upsert ${upsert.toFixed(0)} ms (${counted}): ${(upsert / addition).toFixed(2)}`
      return {
        said,
        floored: [atMost('times a plain addition of 1,000', upsert / addition, mostOfAnAddition)],
      }
    }),
}
