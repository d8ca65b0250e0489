import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMarkerRequest, journalTagOf, newMarker } from '../../src/providers/google/write/marker.ts'
import { OutcomeUnknown, ProviderFailure } from '../../src/sheets/provider-failure.ts'
import { sealing } from './memory-credentials.ts'
import { add, applied, prepared, startTab, write } from './writing-attempts.ts'

const minuteMs = 60_000

for (const kind of [
  '500AfterApply',
  '503AfterApply',
  'resetAfterApply',
  'truncated',
  'cut',
  'wrongTypes',
] as const) {
  test(`applied, and the answer lost (${kind}): unknown, then settled as applied, never done again`, async (t) => {
    const { ground, tab, fault } = await startTab(t, [['id'], ['a']])
    const attempt = await prepared(ground, tab, [add(['b'])])
    await fault({ kind })
    await assert.rejects(attempt.commit(), OutcomeUnknown)
    const { settle } = ground.google.provider
    assert.equal(await settle(tab.place, attempt.fence), 'applied')
    assert.equal(await settle(tab.place, attempt.fence), 'applied')
    assert.deepEqual(await tab.values(), [['id'], ['a'], ['b']])
  })
}

for (const kind of ['500', '503', 'reset', 'html'] as const) {
  test(`not applied, and no answer that says so (${kind}): unknown, then settled as void`, async (t) => {
    const { ground, tab, fault } = await startTab(t, [['id'], ['a']])
    const attempt = await prepared(ground, tab, [add(['b'])])
    await fault({ kind })
    await assert.rejects(attempt.commit(), OutcomeUnknown)
    assert.equal(await ground.google.provider.settle(tab.place, attempt.fence), 'void')
    assert.deepEqual(await tab.values(), [['id'], ['a']])
    await applied(ground, tab, add(['c']))
    assert.deepEqual(await tab.values(), [['id'], ['a'], ['c']])
  })
}

test('a write that lands after it was settled as void is refused as a whole', async (t) => {
  const { ground, tab, fault } = await startTab(t, [['id'], ['a']])
  const changes = [
    add(['b']),
    { kind: 'update', rowNumber: 2, cells: [{ columnIndex: 0, value: 'changed' }] },
  ] as const
  const attempt = await prepared(ground, tab, changes)
  // Before the second call from now: the one that settles comes first.
  await fault({ kind: 'applyLate', beforeCall: 2 })
  await assert.rejects(attempt.commit(), OutcomeUnknown)
  assert.equal(await ground.google.provider.settle(tab.place, attempt.fence), 'void')
  assert.deepEqual(await tab.values(), [['id'], ['a']], 'the late one came before this read')
  assert.deepEqual(await tab.values(), [['id'], ['a']])
  assert.equal(await ground.google.provider.settle(tab.place, attempt.fence), 'void')
})

test('a write that lands just before it is settled is settled as applied', async (t) => {
  const { ground, tab, fault } = await startTab(t, [['id'], ['a']])
  const attempt = await prepared(ground, tab, [add(['b'])])
  await fault({ kind: 'applyLate', beforeCall: 1 })
  await assert.rejects(attempt.commit(), OutcomeUnknown)
  assert.equal(await ground.google.provider.settle(tab.place, attempt.fence), 'applied')
  assert.deepEqual(await tab.values(), [['id'], ['a'], ['b']])
})

test('settling whose own answer is lost says the same when it is asked again', async (t) => {
  const { ground, tab, fault } = await startTab(t, [['id'], ['a']])
  const attempt = await prepared(ground, tab, [add(['b'])])
  await fault({ kind: 'reset' })
  await assert.rejects(attempt.commit(), OutcomeUnknown)
  await fault({ kind: 'resetAfterApply' })
  const { settle } = ground.google.provider
  await assert.rejects(settle(tab.place, attempt.fence), ProviderFailure)
  assert.equal(await settle(tab.place, attempt.fence), 'void', 'the marker is there, but not for the batch')
  assert.deepEqual(await tab.values(), [['id'], ['a']])
})

test('the same batch sent again by mistake is refused by its marker', async (t) => {
  const { ground, tab } = await startTab(t, [['id'], ['a']])
  const attempt = await prepared(ground, tab, [add(['b'])])
  assert.equal((await attempt.commit()).outcome, 'applied')
  await assert.rejects(attempt.commit(), OutcomeUnknown, 'it was done, so it is not called refused')
  assert.deepEqual(await tab.values(), [['id'], ['a'], ['b']])
})

test('an id that somebody else has taken: nothing is done, and it is not taken for ours', async (t) => {
  const { ground, tab } = await startTab(t, [['id'], ['a']])
  const attempt = await prepared(ground, tab, [add(['b'])])
  await tab.batchUpdate({
    createDeveloperMetadata: {
      developerMetadata: {
        metadataId: Number(attempt.fence.split(' ')[0]),
        metadataKey: 'another program',
        location: { spreadsheet: true },
        visibility: 'DOCUMENT',
      },
    },
  })
  assert.deepEqual(await attempt.commit(), { outcome: 'conflict' })
  assert.equal(await ground.google.provider.settle(tab.place, attempt.fence), 'void')
  assert.deepEqual(await tab.values(), [['id'], ['a']])
})

test('markers go with a later write when nothing of their batch can come any more, also those of others', async (t) => {
  const { ground, tab } = await startTab(t, [['id'], ['a']])
  const { clock } = ground.local
  const leave = (metadataId: number, metadataValue: string) =>
    tab.batchUpdate({
      createDeveloperMetadata: {
        developerMetadata: {
          metadataId,
          metadataKey: 'rowport',
          metadataValue,
          location: { spreadsheet: true },
          visibility: 'DOCUMENT',
        },
      },
    })
  const left = async () => (await tab.markers()).map(({ metadataId }) => metadataId).filter((id) => id < 100)
  const tag = journalTagOf(sealing.keyId)
  // Of a process that died, of a former version whose machine was days behind, of servers with another journal.
  await leave(71, newMarker(tag, clock.nowMs()).text)
  await leave(72, `${Math.floor(clock.nowMs() / 1_000 - 200_000).toString(36)}-0123456789`)
  await leave(73, newMarker('them', clock.nowMs()).text)
  await leave(74, `${newMarker('them', clock.nowMs()).text}!`)
  await leave(75, 'not of our making')
  await applied(ground, tab, add(['b']))
  await applied(ground, tab, add(['c']))
  assert.equal((await tab.markers()).length, 7)
  clock.advanceMs(9 * minuteMs)
  await applied(ground, tab, add(['d']))
  assert.equal((await tab.markers()).length, 8, 'a late one may still come')
  clock.advanceMs(2 * minuteMs)
  await applied(ground, tab, add(['e']))
  assert.equal((await tab.markers()).length, 7, 'its own two are gone')
  assert.deepEqual(await left(), [71, 72, 73, 74, 75])
  clock.advanceMs(6 * minuteMs)
  // The first of these looks for what others left, and one of the next takes it along.
  for (let n = 0; n < 10 && (await left()).length > 2; n++) await applied(ground, tab, add([`more ${n}`]))
  assert.deepEqual(await left(), [73, 75], 'those with another journal may still have to ask')
})

test('a batch that did not leave soon after its marker was made does not leave at all', async (t) => {
  const { ground, tab } = await startTab(t, [['id'], ['a']])
  const attempt = await prepared(ground, tab, [add(['b'])])
  ground.local.clock.advanceMs(61_000)
  assert.deepEqual(await attempt.commit(), { outcome: 'conflict' })
  assert.deepEqual(await tab.values(), [['id'], ['a']])
  assert.deepEqual(await tab.markers(), [])
})

test('a spreadsheet that is full of old markers takes the next write all the same', async (t) => {
  const { ground, tab } = await startTab(t, [['id'], ['a']])
  const { clock } = ground.local
  const tag = journalTagOf(sealing.keyId)
  const metadata = Array.from({ length: 1_363 }, () => newMarker(tag, clock.nowMs()))
  await tab.batchUpdate(...metadata.map((marker) => createMarkerRequest(marker, 'done')))
  clock.advanceMs(20 * minuteMs)
  // The first one too many looks for them; those after it take them along.
  const outcomes: string[] = []
  while (outcomes.at(-1) !== 'applied' && outcomes.length < 10) {
    outcomes.push((await write(ground, tab, [add(['b'])])).outcome)
  }
  assert.equal(outcomes.at(-1), 'applied')
  assert.ok((await tab.markers()).length < 1_300)
})

test('a refusal that may be the cleaning’s fault is tried again without it', async (t) => {
  const { ground, tab, fault } = await startTab(t, [['id'], ['a']])
  await applied(ground, tab, add(['b']))
  ground.local.clock.advanceMs(11 * minuteMs)
  const error = { code: 400, message: 'No developer metadata matches.', status: 'INVALID_ARGUMENT' }
  await fault({ kind: 'answer', status: 400, body: { error } })
  assert.deepEqual(await write(ground, tab, [add(['c'])]), { outcome: 'conflict' })
  await applied(ground, tab, add(['c']))
})

test('a ration of Google that is used up is told as such, and nothing is done', async (t) => {
  const { ground, tab, fault } = await startTab(t, [['id'], ['a']])
  const attempt = await prepared(ground, tab, [add(['b'])])
  await fault({ kind: '429' })
  await assert.rejects(attempt.commit(), (error) => {
    assert.ok(error instanceof ProviderFailure && !(error instanceof OutcomeUnknown))
    return error.facts.isPassing === true
  })
  assert.deepEqual(await tab.values(), [['id'], ['a']])
})
