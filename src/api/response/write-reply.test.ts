import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowEtag } from './etag.ts'
import { chunksOf, headersOf } from './reply.ts'
import { writeReply } from './write-reply.ts'

test('a row of megabytes is told and named in pieces, as it would be in one', async () => {
  for (const before of ['', 'x']) {
    // Where pieces end, there is the middle of a pair with one of them.
    const rowJson = `{"a":"${before}${'😀'.repeat(200_000)}"}`
    let turns = 0
    const nextTurn = () => void turns++
    const address = { form: 'a', accountSlug: 'acme', sheetSlug: 'fat' } as const
    const reply = await writeReply(address, { kind: 'updated', rowNumber: 2, rowJson }, nextTurn)
    assert.equal(headersOf(reply, []).get('etag'), rowEtag(2, rowJson))
    const pieces: Uint8Array[] = []
    for await (const piece of chunksOf(reply.body)) pieces.push(piece)
    const told = JSON.parse(Buffer.concat(pieces).toString())
    assert.equal(JSON.stringify(told.data), rowJson)
    assert.ok(turns > 10, `${turns} turns`)
    assert.ok(Math.max(...pieces.map(({ byteLength }) => byteLength)) <= 4 * 64 * 1024)
  }
})
