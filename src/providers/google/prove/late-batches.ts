import type { Attempted, ScratchTab } from './scratch-tab.ts'

/** As long as Google says that it works on a request (docs/google.md#batches). */
const latestMs = 180_000
/** Who looks no longer than that could not see that it is later. */
const watchMs = 200_000
/** How long after it was sent each is given up: at once, on its way, at work. */
const givenUpAfterMs = [0, 50, 200]
const firstPauseMs = 250
const longestPauseMs = 5_000

/** Gives batches up and looks when they land. That one never does cannot be seen: it is looked for until it would be too late. */
export async function attemptLateBatches(tab: ScratchTab): Promise<Attempted> {
  await tab.write([])
  const waiting = new Set<string>()
  for (const [row, afterMs] of givenUpAfterMs.entries()) {
    const text = `given up ${row + 1}`
    const marker = tab.marker(tab.newMarkerId())
    const outcome = await tab.giveUp([tab.cells(row, [[text]]), marker], afterMs)
    if (outcome === 'given_up') waiting.add(text)
  }
  const givenUp = waiting.size
  if (givenUp === 0) return { holds: null, saw: 'not tried: each got a response before it could be given up' }
  const begunMs = tab.elapsedMs()
  let notThereMs = 0
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    const lookedAtMs = tab.elapsedMs() - begunMs
    const there = (await tab.values()).flat()
    const landed = [...waiting].filter((text) => there.includes(text))
    // What an earlier look did not show at that time was later than that, however long this one took.
    if (landed.length > 0 && notThereMs > latestMs)
      return { holds: false, saw: `one was not there after ${seconds(notThereMs)} s, and came later` }
    for (const text of landed) waiting.delete(text)
    if (waiting.size === 0)
      return { holds: true, saw: `${givenUp} given up, all there after ${seconds(lookedAtMs)} s` }
    if (lookedAtMs > watchMs)
      return { holds: true, saw: `${waiting.size} of ${givenUp} not there after ${seconds(lookedAtMs)} s` }
    notThereMs = lookedAtMs
    await tab.pause(pauseMs)
  }
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1)
}
