import assert from 'node:assert/strict'
import { test } from 'node:test'
import { patienceMs, times } from '../soak.ts'
import { type MarkersWish, type PlayedMarkers, playMarkers } from './markers-under-kills.ts'

const minuteMs = 60_000
/** What Google allows for a spreadsheet. */
const roomCharacters = 30_000

const usual: MarkersWish = {
  hours: 1,
  writeEveryMs: 8_000,
  lifeMs: 20 * minuteMs,
  servers: 2,
  deployments: 1,
  unanswered: 0.2,
  downMs: 0,
}

const histories: { title: string; seeds: number; wish: MarkersWish; isBounded: boolean }[] = [
  {
    title: 'two servers whose wall clocks differ by days and are set again and again',
    seeds: times(2, 100),
    wish: usual,
    isBounded: true,
  },
  {
    title: 'all servers are down for up to an hour, with writes under way',
    seeds: times(2, 100),
    wish: { ...usual, hours: 4, writeEveryMs: 15_000, lifeMs: 15 * minuteMs, downMs: 60 * minuteMs },
    isBounded: false,
  },
  {
    title: 'the same, and others with another journal go on writing',
    seeds: times(2, 100),
    wish: {
      ...usual,
      hours: 4,
      writeEveryMs: 15_000,
      lifeMs: 15 * minuteMs,
      downMs: 60 * minuteMs,
      deployments: 2,
    },
    isBounded: false,
  },
  {
    title: 'no server lives longer than a few minutes',
    seeds: times(1, 3),
    wish: {
      ...usual,
      hours: times(2, 24),
      writeEveryMs: 5_000,
      lifeMs: 5 * minuteMs,
      servers: 1,
      unanswered: 0.05,
    },
    isBounded: true,
  },
  {
    title: 'a server lives for one or two writes',
    seeds: times(1, 20),
    wish: {
      ...usual,
      hours: times(2, 24),
      writeEveryMs: 20_000,
      lifeMs: 20_000,
      servers: 1,
      unanswered: 0.05,
    },
    isBounded: true,
  },
]

for (const { title, seeds, wish, isBounded } of histories) {
  test(`${title}: each batch takes effect once at most, and markers do not pile up`, {
    timeout: patienceMs,
  }, async (t) => {
    const all: PlayedMarkers[] = []
    for (let seed = 1; seed <= seeds; seed++) {
      const played = await playMarkers(seed, wish)
      const { doubled, lost, writes, acknowledged, markers } = played
      assert.deepEqual(
        { doubled, lost, open: writes - acknowledged },
        { doubled: 0, lost: 0, open: 0 },
        `seed ${seed}`,
      )
      assert.ok(markers.mostCharacters < roomCharacters, `seed ${seed}: ${markers.mostCharacters} characters`)
      if (isBounded) assert.ok(markers.beyond <= 0, `seed ${seed}: ${markers.beyond} markers too many`)
      all.push(played)
    }
    const sum = (of: (played: PlayedMarkers) => number) =>
      all.reduce((total, played) => total + of(played), 0)
    t.diagnostic(
      `${seeds} histories of ${wish.hours} h: ${sum(({ acknowledged }) => acknowledged)} rows, ` +
        `${sum(({ kills }) => kills)} kills, ${sum(({ late }) => late)} late batches ` +
        `(${sum(({ refusedLate }) => refusedLate)} refused), ${sum(({ settled }) => settled.void)} settled as not done; ` +
        `at most ${Math.max(...all.map(({ markers }) => markers.most))} markers, ` +
        `${Math.max(...all.map(({ markers }) => markers.left))} left at the end`,
    )
    assert.ok(sum(({ refusedLate }) => refusedLate) > 0, 'markers kept late batches out')
  })
}
